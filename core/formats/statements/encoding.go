package statements

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"causeway/core/reconcile"
)

// encodings are those that banks write files in, besides UTF-8 and UTF-16, by the names that are
// given to them.
var encodings = map[string]encoding.Encoding{
	"iso-8859-1":   charmap.ISO8859_1,
	"iso8859-1":    charmap.ISO8859_1,
	"latin1":       charmap.ISO8859_1,
	"iso-8859-15":  charmap.ISO8859_15,
	"iso8859-15":   charmap.ISO8859_15,
	"latin9":       charmap.ISO8859_15,
	"windows-1252": charmap.Windows1252,
	"cp1252":       charmap.Windows1252,
	"iso-8859-2":   charmap.ISO8859_2,
	"windows-1250": charmap.Windows1250,
	"cp850":        charmap.CodePage850,
	"cp852":        charmap.CodePage852,
}

// decodeText converts a file to UTF-8 from the encoding that its reader has named. A file without
// one is in UTF-8 or UTF-16.
func decodeText(r io.Reader, name reconcile.Encoding) (io.Reader, error) {
	text, found := decodeUnicode(r)
	switch e, known := encodings[strings.ToLower(string(name))]; {
	case name == "" || name == found || name == reconcile.UTF8 && found == "":
		return text, nil
	case !known || found != "":
		return nil, reconcile.InvalidFile("is not in the encoding %.20s that map names", name)
	default:
		return e.NewDecoder().Reader(text), nil
	}
}

// decodeUnicode converts a file in UTF-16 to UTF-8, drops the byte order mark of one in UTF-8, and
// returns any other unchanged. found is the encoding that the beginning of the file shows. UTF-16 has
// a byte order mark, or begins with an ASCII character.
func decodeUnicode(r io.Reader) (text io.Reader, found reconcile.Encoding) {
	buffered := bufio.NewReader(r)
	start, _ := buffered.Peek(3) // an error is returned by the next Read
	if string(start) == "\ufeff" {
		_, _ = buffered.Discard(len(start))
		return buffered, reconcile.UTF8
	}
	if len(start) < 2 {
		return buffered, ""
	}
	endianness := unicode.BigEndian
	switch {
	case start[0] == 0xff && start[1] == 0xfe, start[0] != 0 && start[1] == 0:
		endianness = unicode.LittleEndian
	case start[0] == 0xfe && start[1] == 0xff, start[0] == 0 && start[1] != 0:
	default:
		return buffered, ""
	}
	return transform.NewReader(buffered, unicode.UTF16(endianness, unicode.UseBOM).NewDecoder()), reconcile.UTF16
}

// newCharsetReader returns what converts the encoding that an XML declaration names to UTF-8.
func newCharsetReader(isUTF16 bool) func(label string, r io.Reader) (io.Reader, error) {
	return func(label string, r io.Reader) (io.Reader, error) {
		name := strings.ToLower(label)
		switch {
		case name == "us-ascii" || name == "ascii" || name == "utf8" || isUTF16 && strings.HasPrefix(name, "utf-16"):
			return r, nil
		case strings.HasPrefix(name, "utf-16"):
			return nil, fmt.Errorf("the encoding %.40q is declared, and the file is not in it", label)
		}
		if e, known := encodings[name]; known && !isUTF16 {
			return e.NewDecoder().Reader(r), nil
		}
		return nil, fmt.Errorf("the encoding %.40q is not supported; use UTF-8", label)
	}
}
