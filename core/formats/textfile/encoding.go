package textfile

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

// The encodings that the beginning of a file can show.
const (
	UTF8  = "UTF-8"
	UTF16 = "UTF-16"
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

// Decode converts a file to UTF-8 from the encoding that its reader has named, and reports false if it is
// unknown, or if the file is in another one. A file without one is in UTF-8 or UTF-16.
func Decode(r io.Reader, name string) (io.Reader, bool) {
	text, found := DecodeUnicode(r)
	switch e, known := encodings[strings.ToLower(name)]; {
	case name == "" || name == found || name == UTF8 && found == "":
		return text, true
	case !known || found != "":
		return nil, false
	default:
		return e.NewDecoder().Reader(text), true
	}
}

// DecodeUnicode converts a file in UTF-16 to UTF-8, drops the byte order mark of one in UTF-8, and
// returns any other unchanged. found is the encoding that the beginning of the file shows; empty for none.
// UTF-16 has a byte order mark, or begins with an ASCII character.
func DecodeUnicode(r io.Reader) (text io.Reader, found string) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	start, _ := buffered.Peek(3) // an error is returned by the next Read
	if string(start) == "\ufeff" {
		_, _ = buffered.Discard(len(start))
		return buffered, UTF8
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
	return transform.NewReader(buffered, unicode.UTF16(endianness, unicode.UseBOM).NewDecoder()), UTF16
}

// DecodeDeclared converts a text to UTF-8 from the encoding that it declares itself. found is what DecodeUnicode
// has found: a text in UTF-16 may declare UTF-16 alone.
func DecodeDeclared(r io.Reader, declared, found string) (io.Reader, error) {
	name, isUTF16 := strings.ToLower(declared), found == UTF16
	switch {
	case name == "us-ascii" || name == "ascii" || name == "utf8" || isUTF16 && strings.HasPrefix(name, "utf-16"):
		return r, nil
	case strings.HasPrefix(name, "utf-16"):
		return nil, fmt.Errorf("the encoding %.40q is declared, and the file is not in it", declared)
	}
	if e, known := encodings[name]; known && !isUTF16 {
		return e.NewDecoder().Reader(r), nil
	}
	return nil, fmt.Errorf("the encoding %.40q is not supported; use UTF-8", declared)
}
