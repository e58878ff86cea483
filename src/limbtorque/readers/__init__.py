"""One format, one file; each returns a Recording. Only here are file formats known."""
