package documentfiles

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"io"
	"slices"
)

// activeNames are the names (ISO 32000) without which a PDF file cannot run scripts or programs, carry
// other files, or send data, and those of what cannot be checked.
var activeNames = map[string]string{
	"JavaScript":   "scripts",
	"Rendition":    "media that can run scripts",
	"Launch":       "actions that start programs",
	"SubmitForm":   "actions that send data",
	"ImportData":   "actions that read files",
	"GoToE":        "attached files",
	"EmbeddedFile": "attached files",
	"EF":           "attached files",
	"RichMedia":    "media",
	"XFA":          "a dynamic form",
	"Encrypt":      "encryption",
}

// maxShortName is the length of names that data of images can contain by chance. They count if a value
// follows that they can have: a number, a list or a dictionary.
const maxShortName = 3

const (
	maxStreams = 20_000
	// maxPDFUnpacked bounds the time of a check. Pages with photos have them as JPEG, which is not
	// unpacked.
	maxPDFUnpacked = 256 << 20
	// maxTail is where the end of a file must be found, and maxDictionary what is read of a dictionary.
	maxTail       = 2048
	maxDictionary = 4096
)

// checkPDF returns the file up to its end mark. The check does not rely on the structure of the file,
// which viewers interpret in different ways: it looks for names in all bytes, and in all streams that
// can be unpacked.
func checkPDF(s *source) ([]part, error) {
	end, err := pdfEnd(s)
	if err != nil {
		return nil, err
	}
	streams, err := pdfStreams(s, end)
	if err != nil {
		return nil, err
	}
	found := &nameScanner{}
	if _, err := io.Copy(found, s.section(0, end)); err != nil {
		return nil, err
	}
	budget := int64(maxPDFUnpacked)
	for _, at := range streams {
		if err := checkStream(s, at, end, found, &budget); err != nil {
			return nil, err
		}
		if found.active != "" {
			break
		}
	}
	if err := found.flush(); err != nil {
		return nil, err
	}
	return []part{{from: 0, to: end}}, nil
}

// pdfEnd returns the position behind the last end mark.
func pdfEnd(s *source) (int64, error) {
	from := max(0, s.size-maxTail)
	tail, err := io.ReadAll(s.section(from, s.size))
	if err != nil {
		return 0, err
	}
	const mark = "%%EOF"
	n := bytes.LastIndex(tail, []byte(mark))
	if n < 0 || !bytes.Contains(tail[:n], []byte("startxref")) {
		return 0, errDamaged
	}
	return from + int64(n+len(mark)), nil
}

// pdfStreams returns the positions of the data of all streams.
func pdfStreams(s *source, end int64) ([]int64, error) {
	const keyword = "stream"
	const overlap = len("end"+keyword) + 2
	var found []int64
	window := make([]byte, 64<<10)
	for from := int64(0); from < end; from += int64(len(window) - overlap) {
		b := window[:min(int64(len(window)), end-from)]
		if _, err := s.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for at := 0; ; {
			n := bytes.Index(b[at:], []byte(keyword))
			if n < 0 {
				break
			}
			start := at + n
			at = start + len(keyword)
			data := at
			if data < len(b) && b[data] == '\r' {
				data++
			}
			if data < len(b) && b[data] == '\n' {
				data++
			}
			position := from + int64(data)
			isEnd := start >= 3 && string(b[start-3:start]) == "end"
			if data == at || isEnd || len(found) > 0 && found[len(found)-1] >= position {
				continue // no line end, or found in the former window
			}
			if found = append(found, position); len(found) > maxStreams {
				return nil, refuse("must have fewer parts: print this PDF file to a new one")
			}
		}
	}
	return found, nil
}

// checkStream looks for names in what a stream contains.
func checkStream(s *source, at, end int64, found *nameScanner, budget *int64) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	before := make([]byte, min(at, maxDictionary))
	if _, err := s.ReadAt(before, at-int64(len(before))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n := bytes.LastIndex(before, []byte("obj")); n >= 0 {
		before = before[n:]
	}
	dictionary := &nameScanner{all: map[string]bool{}}
	_, _ = dictionary.Write(append(before, ' ')) // never fails
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return dictionary.all[n] })
	}
	// Only object streams have the key First.
	if has("First") && (has("Predictor", "LZWDecode", "RunLengthDecode", "Crypt") || has("ASCII85Decode") && has("ASCIIHexDecode")) {
		return refuse("must be packed in a usual way: print this PDF file to a new one")
	}
	var data io.Reader = bufio.NewReaderSize(s.section(at, end), 8<<10)
	switch {
	case has("ASCII85Decode", "A85"):
		data = bufio.NewReader(ascii85.NewDecoder(&untilEnd{r: data, end: '~'}))
	case has("ASCIIHexDecode", "AHx"):
		data = bufio.NewReader(hex.NewDecoder(&untilEnd{r: data, end: '>', skipSpace: true}))
	}
	return unpack(data.(*bufio.Reader), found, budget, 0)
}

// unpack looks for names in what packed data contain, if they are packed, also twice.
func unpack(data *bufio.Reader, found *nameScanner, budget *int64, depth int) error {
	start, err := data.Peek(2)
	isZlib := err == nil && start[0]&0x0f == 8 && (int(start[0])<<8|int(start[1]))%31 == 0
	if !isZlib || depth == 3 {
		return nil
	}
	unpacked, err := zlib.NewReader(data)
	if err != nil {
		return nil //nolint:nilerr // it only looks packed
	}
	names := &nameScanner{}
	content := bufio.NewReader(io.TeeReader(io.LimitReader(unpacked, *budget+1), names))
	if err := unpack(content, found, budget, depth+1); err != nil {
		return err
	}
	// Data that end in an error are shown up to there.
	if _, err := io.Copy(io.Discard, content); err != nil && names.written == 0 {
		return nil // it only looks packed
	}
	if *budget -= names.written; *budget < 0 {
		return refuse("must unpack to at most %d MiB: print this PDF file to a new one", maxPDFUnpacked>>20)
	}
	_, _ = names.Write([]byte{' '}) // ends the last name
	if found.active == "" {
		found.active = names.active
	}
	return nil
}

// untilEnd reads up to an end mark.
type untilEnd struct {
	r         io.Reader
	end       byte
	skipSpace bool
	done      bool
}

// Read implements io.Reader.
func (u *untilEnd) Read(p []byte) (int, error) {
	if u.done {
		return 0, io.EOF
	}
	n, err := u.r.Read(p)
	if i := bytes.IndexByte(p[:n], u.end); i >= 0 {
		n, u.done = i, true
	}
	if u.skipSpace {
		n = len(slices.DeleteFunc(p[:n], isSpace))
	}
	return n, err
}

func isSpace(b byte) bool {
	return b == 0 || b == '\t' || b == '\n' || b == '\f' || b == '\r' || b == ' '
}

func isDelimiter(b byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), b) >= 0 }

// nameScanner looks for names in what is written to it. It never fails.
type nameScanner struct {
	active  string          // the first of activeNames that was found
	all     map[string]bool // every name, if not nil
	written int64

	name   []byte
	inName bool
	short  string // an active name of at most maxShortName, until its value begins
}

const maxNameLength = 48

// Write implements io.Writer.
func (s *nameScanner) Write(p []byte) (int, error) {
	s.written += int64(len(p))
	for i := 0; i < len(p); i++ {
		b := p[i]
		switch {
		case s.inName && !isSpace(b) && !isDelimiter(b):
			if len(s.name) <= 3*maxNameLength {
				s.name = append(s.name, b)
			}
			continue
		case s.inName:
			s.endName()
		}
		if s.short != "" && !isSpace(b) {
			if b == '[' || b == '<' || b >= '0' && b <= '9' {
				s.find(s.short)
			}
			s.short = ""
		}
		if b == '/' {
			s.inName, s.name = true, s.name[:0]
			continue
		}
		if s.short == "" { // go to the next name
			n := bytes.IndexByte(p[i:], '/')
			if n < 0 {
				break
			}
			i += n - 1
		}
	}
	return len(p), nil
}

// endName handles a name that has ended.
func (s *nameScanner) endName() {
	s.inName = false
	name := plainName(s.name)
	if s.all != nil {
		s.all[string(name)] = true
	}
	if _, active := activeNames[string(name)]; !active {
		return
	}
	if len(name) <= maxShortName {
		s.short = string(name)
		return
	}
	s.find(string(name))
}

func (s *nameScanner) find(name string) {
	if s.active == "" {
		s.active = name
	}
}

// flush returns the error for an active name.
func (s *nameScanner) flush() error {
	_, _ = s.Write([]byte{' '}) // ends the last name
	if s.active == "" {
		return nil
	}
	return refuse("must be a PDF file without %s: print it to a new PDF file, or send it as an image", activeNames[s.active])
}

// plainName replaces the escapes of a name: #4A is J.
func plainName(name []byte) []byte {
	if bytes.IndexByte(name, '#') < 0 {
		return name
	}
	var plain []byte
	for i := 0; i < len(name); i++ {
		var b [1]byte
		if name[i] == '#' && i+2 < len(name) {
			if _, err := hex.Decode(b[:], name[i+1:i+3]); err == nil {
				plain = append(plain, b[0])
				i += 2
				continue
			}
		}
		plain = append(plain, name[i])
	}
	return plain
}
