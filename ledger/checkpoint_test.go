package ledger_test

import (
	"errors"
	"testing"

	"causeway/core/ident"
	"causeway/ledger"
)

func parsePlatform(n byte) (ident.Platform, error) {
	return ident.ParsePlatform("PlatformConfig:01900000-0000-7000-8000-00000000000" + string('0'+n))
}

const checkpointText = "causeway.ledger/01900000-0000-7000-8000-000000000001\n1208\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"

func TestCheckpoint_Text(t *testing.T) {
	t.Parallel()
	// A head is three lines: origin, size, root.
	head := ledger.Checkpoint{Platform: platform, Size: 1208, Root: [32]byte{1, 2, 3}}
	if got := head.Text(); got != checkpointText {
		t.Errorf("got %q", got)
	}
	if got, err := ledger.ParseCheckpoint(checkpointText); err != nil || got != head {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	// What is read as a head is written as the very same text; all else is refused.
	for _, text := range []string{
		checkpointText, "", "\n\n\n", checkpointText + "extension\n", checkpointText[:len(checkpointText)-1],
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n01208\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n-1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n99999999999999999999\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n1\nAQID\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n",
		"causeway.ledger/{01900000-0000-7000-8000-000000000001}\n1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"other.example/log\n1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		head, err := ledger.ParseCheckpoint(text)
		switch {
		case err != nil && !errors.Is(err, ledger.ErrInvalidCheckpoint):
			t.Errorf("the error is %v", err)
		case err == nil && head.Text() != text:
			t.Errorf("%q is read and written as %q", text, head.Text())
		}
	})
}
