"""The image that doors and proxies are made of: brought to an engine once, and gone from it with its version."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from services.sandbox.egress import REPOSITORY, Bundle, saved_image

if TYPE_CHECKING:
    from docker import APIClient

LABELS = {"pinfold.image": "egress"}


def bring_image(client: APIClient, bundle: Bundle) -> None:
    """Load the image, and remove those of other versions that nothing uses.

    Raises:
        docker.errors.APIError: The engine refuses it.
    """
    saved = saved_image(bundle.archive, bundle.image, client.version()["Arch"], LABELS)
    for _ in client.load_image(saved, quiet=True):  # type: ignore[no-untyped-call]
        continue  # what went wrong shows below
    client.inspect_image(bundle.image)  # type: ignore[no-untyped-call]
    remove_other_images(client, bundle)


def remove_other_images(client: APIClient, bundle: Bundle) -> None:
    """Remove the images of other versions that nothing uses, those without a name among them."""
    from docker.errors import APIError

    label = ",".join(f"{name}={value}" for name, value in LABELS.items())
    found: list[dict[str, Any]] = [*client.images(REPOSITORY), *client.images(filters={"label": label})]
    for image in {image["Id"]: image for image in found}.values():
        if bundle.image not in (image["RepoTags"] or ()):
            with suppress(APIError):  # one that is in use, or that another Pinfold has just removed
                client.remove_image(image["Id"])
