"""One module an official format: bytes in, an Act out."""
