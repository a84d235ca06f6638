package iso20022

import "fmt"

// FileError says what is wrong with a file that was read, where, and what to do.
type FileError struct {
	Line    int
	Problem string
}

func (e *FileError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }
