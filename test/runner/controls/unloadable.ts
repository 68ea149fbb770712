// It fails before it has declared a test.
throw new Error("No.");
