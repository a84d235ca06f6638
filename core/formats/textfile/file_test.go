package textfile_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"causeway/core/formats/textfile"
)

func TestLimit_FileTooLarge(t *testing.T) {
	t.Parallel()
	// A file of as many bytes as are allowed is read, and one more is an error.
	for size, want := range map[int]error{10: nil, 11: textfile.ErrTooLarge} {
		limited := textfile.Limit(strings.NewReader(strings.Repeat("A", size)), 10)
		if _, err := io.ReadAll(limited); !errors.Is(err, want) || !errors.Is(limited.Err(), want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
}
