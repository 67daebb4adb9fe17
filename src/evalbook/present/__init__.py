"""Values in, text out: tables, reports, pages and exports."""
