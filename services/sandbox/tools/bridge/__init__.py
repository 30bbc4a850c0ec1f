"""Programs that run inside sandboxes, beside the token; nothing here is imported."""
