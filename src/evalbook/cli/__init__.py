"""What a person types: commands, options, exit codes, terminal manners."""
