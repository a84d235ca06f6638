package iso20022

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestGuard_FileTooLarge(t *testing.T) {
	t.Parallel()
	// A file of as many bytes as are allowed is read, and one more is an error.
	for size, want := range map[int]error{10: nil, 11: errFileTooLarge} {
		if _, err := io.ReadAll(&guard{source: strings.NewReader(strings.Repeat("A", size)), remaining: 10}); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
	s := &scanner{decoder: xml.NewDecoder(strings.NewReader(""))}
	if err := s.failure(errFileTooLarge); !strings.Contains(err.Error(), "more than 512 MB: ask the bank for several files") {
		t.Errorf("%v", err)
	}
}
