"""The docker engine: any Docker Engine from API 1.41."""
