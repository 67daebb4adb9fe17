"""Problems, canonical bytes, files and times that every floor may use."""
