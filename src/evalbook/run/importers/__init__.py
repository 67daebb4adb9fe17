"""Result files of other tools, read into plans and rows; nothing is written here."""
