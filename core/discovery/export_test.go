package discovery

var (
	// Parse reads a file as the program does at its start.
	Parse = parse
	// Text is the file.
	Text = institutionsText
)
