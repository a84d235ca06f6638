package iso20022

import (
	"strings"
	"testing"

	"causeway/core/formats/textfile"
)

func TestScanFile_FileTooLarge(t *testing.T) {
	t.Parallel()
	// A file with more bytes than are allowed is refused, and the error says what to do.
	err := scanFile(textfile.Limit(strings.NewReader("<Document></Document>"), 11), accepting("03", "pain.002"), nil)
	if err == nil || !strings.Contains(err.Error(), "more than 512 MB: ask the bank for several files") {
		t.Errorf("%v", err)
	}
}
