"""An image as an engine loads it: the same files make the same image, however often and by whomever it is loaded."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping

_CREATED = "1970-01-01T00:00:00Z"


def saved_image(layer: bytes, name: str, architecture: str, labels: Mapping[str, str]) -> bytes:
    """Pack an image of one layer as `docker save` does.

    Args:
        layer: Its files, a tar archive.
        name: With its tag.
        architecture: As the engine calls its own, `amd64`.
        labels: By which the image is found again.
    """
    config = json.dumps(
        {
            "architecture": architecture,
            "os": "linux",
            "created": _CREATED,
            "config": {"Labels": dict(labels)},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
            "history": [{"created": _CREATED}],
        },
        sort_keys=True,
    ).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for path, data in ((config_name, config), ("layer.tar", layer), ("manifest.json", manifest)):
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()
