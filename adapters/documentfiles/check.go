package documentfiles

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"causeway/core/document"
	"causeway/ports"
)

// Checker implements ports.DocumentFiles. At most a few files are checked at the same time, because
// that takes processor time from payments.
type Checker struct{ slots chan struct{} }

var _ ports.DocumentFiles = (*Checker)(nil)

// New returns a Checker that checks at most so many files at the same time.
func New(maxConcurrency int) *Checker { return &Checker{make(chan struct{}, maxConcurrency)} }

const kinds = "must be a PDF, JPEG or PNG file"

// Check implements ports.DocumentFiles.
func (c *Checker) Check(ctx context.Context, file io.ReaderAt, size int64) (checked ports.CheckedFile, problem string, err error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return checked, "", ctx.Err()
	}
	s := &source{ctx: ctx, file: file, size: size}
	start := make([]byte, 12)
	n, err := s.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return checked, "", err
	}
	start = start[:n]
	var parts []part
	switch {
	case bytes.HasPrefix(start, []byte("%PDF-1.")), bytes.HasPrefix(start, []byte("%PDF-2.")):
		checked.ContentType = document.PDF
		parts, err = checkPDF(s)
	case bytes.HasPrefix(start, []byte("\xff\xd8\xff")):
		checked.ContentType = document.JPEG
		parts, err = checkJPEG(s)
	case bytes.HasPrefix(start, []byte(pngSignature)):
		checked.ContentType = document.PNG
		parts, err = checkPNG(s)
	case len(start) == 12 && string(start[4:8]) == "ftyp":
		return checked, kinds + ", not HEIC or a video: save or send the photo as JPEG", nil
	case n == 0:
		return checked, kinds + ", not an empty file", nil
	default:
		return checked, kinds, nil
	}
	var bad *unsuitable
	switch {
	case s.err != nil: // reading the file failed, whatever the check made of it
		return checked, "", s.err
	case errors.As(err, &bad):
		return checked, bad.problem, nil
	case err != nil:
		return checked, "must be a complete " + names[checked.ContentType] + " file: this one is cut off or damaged", nil
	}
	for _, p := range parts {
		checked.Size += p.length()
	}
	checked.Open = func() io.Reader {
		readers := make([]io.Reader, len(parts))
		for i, p := range parts {
			readers[i] = p.reader(file)
		}
		return io.MultiReader(readers...)
	}
	return checked, "", nil
}

var names = map[document.ContentType]string{document.PDF: "PDF", document.JPEG: "JPEG", document.PNG: "PNG"}

// unsuitable is the error for a file that is not accepted.
type unsuitable struct{ problem string }

func (u *unsuitable) Error() string { return u.problem }

func refuse(format string, args ...any) error { return &unsuitable{fmt.Sprintf(format, args...)} }

// errDamaged is the error for a file that is not what its beginning says.
var errDamaged = errors.New("damaged")

// part is a part of the result: new bytes, or a range of the file.
type part struct {
	literal  []byte
	from, to int64
}

func (p part) length() int64 { return int64(len(p.literal)) + p.to - p.from }

func (p part) reader(file io.ReaderAt) io.Reader {
	if p.literal != nil {
		return bytes.NewReader(p.literal)
	}
	return io.NewSectionReader(file, p.from, p.to-p.from)
}

// maxParts bounds the parts of a result. Ranges that touch are one part.
const maxParts = 10_000

// keep appends a range of the file.
func keep(parts []part, from, to int64) []part {
	if n := len(parts); n > 0 && parts[n-1].literal == nil && parts[n-1].to == from {
		parts[n-1].to = to
		return parts
	}
	return append(parts, part{from: from, to: to})
}

// source is the file that is checked. It remembers an error of reading, and ends with its context.
type source struct {
	ctx  context.Context
	file io.ReaderAt
	size int64
	err  error
}

func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.file.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// section returns a reader of a range.
func (s *source) section(from, to int64) *io.SectionReader {
	return io.NewSectionReader(s, from, to-from)
}

// cursor reads a file from its beginning and knows the position.
type cursor struct {
	*bufio.Reader
	at int64
}

func newCursor(s *source) *cursor {
	return &cursor{Reader: bufio.NewReaderSize(s.section(0, s.size), 32<<10)}
}

// next returns the next n bytes, which are valid until the next call.
func (c *cursor) next(n int) ([]byte, error) {
	b, err := c.Peek(n)
	if err != nil {
		return nil, errDamaged
	}
	_, _ = c.Discard(n) // was read
	c.at += int64(n)
	return b, nil
}

// skip passes n bytes.
func (c *cursor) skip(n int) error {
	passed, err := c.Discard(n)
	c.at += int64(passed)
	if err != nil {
		return errDamaged
	}
	return nil
}

// The maximum number of pixels is more than a phone's photo of 10 MiB has. It bounds the memory of
// those who decode the image later.
const (
	maxPixels = 64_000_000
	maxSide   = 20_000
)

func checkDimensions(width, height int64) error {
	switch {
	case width == 0 || height == 0:
		return errDamaged
	case width > maxSide || height > maxSide || width*height > maxPixels:
		return refuse("must have at most %d million pixels, and %d on a side: this image has %d × %d", maxPixels/1_000_000,
			maxSide, width, height)
	}
	return nil
}
