package iso20022

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// encodings are those that banks declare besides UTF-8 and UTF-16.
var encodings = map[string]encoding.Encoding{
	"iso-8859-1":   charmap.ISO8859_1,
	"iso-8859-15":  charmap.ISO8859_15,
	"iso-8859-2":   charmap.ISO8859_2,
	"windows-1252": charmap.Windows1252,
	"windows-1250": charmap.Windows1250,
}

// decodeUnicode converts a file in UTF-16 to UTF-8, and drops the byte order mark of one in UTF-8.
func decodeUnicode(r io.Reader) (text io.Reader, isUTF16 bool) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	start, _ := buffered.Peek(3) // an error is returned by the next Read
	switch {
	case string(start) == "\ufeff":
		_, _ = buffered.Discard(len(start))
		return buffered, false
	case len(start) < 2:
		return buffered, false
	case start[0] == 0xff && start[1] == 0xfe, start[0] != 0 && start[1] == 0:
		return transform.NewReader(buffered, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), true
	case start[0] == 0xfe && start[1] == 0xff, start[0] == 0 && start[1] != 0:
		return transform.NewReader(buffered, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()), true
	}
	return buffered, false
}

// newCharsetReader returns what converts the encoding that an XML declaration names to UTF-8.
func newCharsetReader(isUTF16 bool) func(label string, r io.Reader) (io.Reader, error) {
	return func(label string, r io.Reader) (io.Reader, error) {
		name := strings.ToLower(label)
		if name == "us-ascii" || isUTF16 && strings.HasPrefix(name, "utf-16") {
			return r, nil
		}
		if e, known := encodings[name]; known && !isUTF16 {
			return e.NewDecoder().Reader(r), nil
		}
		return nil, fmt.Errorf("its encoding %.40q is not the one that it declares, or not supported", label)
	}
}
