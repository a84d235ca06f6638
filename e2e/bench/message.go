package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// messages reads HTTP/1.1 messages, requests or answers, one after the other from
// one connection. It allocates nothing once its buffer has grown: the generator
// shares the processors with what it measures.
type messages struct {
	from  io.Reader
	buf   []byte
	taken int // buf[:taken] belongs to the message handed out last
	read  int // buf[:read] has been read
}

const (
	firstBuffer   = 8 << 10
	largestBuffer = 1 << 20
)

var (
	headEnd = []byte("\r\n\r\n")

	errTooLarge = fmt.Errorf("an HTTP message is larger than %d bytes", largestBuffer)
	errChunked  = errors.New("an HTTP message came in chunks; only Content-Length is understood here")
)

// next reads one message. Head (with its first line, without the empty one) and
// body are good until the next call. A connection that ends between two messages
// is io.EOF; within one it is io.ErrUnexpectedEOF.
func (m *messages) next() (head, body []byte, err error) {
	copy(m.buf, m.buf[m.taken:m.read])
	m.read -= m.taken
	m.taken = 0
	looked := 0
	for {
		if at := bytes.Index(m.buf[looked:m.read], headEnd); at >= 0 {
			head = m.buf[:looked+at]
			break
		}
		looked = max(0, m.read-len(headEnd)+1)
		if err := m.fill(); err != nil {
			return nil, nil, err
		}
	}
	length, err := contentLength(head)
	if err != nil {
		return nil, nil, err
	}
	from := len(head) + len(headEnd)
	if from+length > largestBuffer {
		return nil, nil, errTooLarge
	}
	for m.read < from+length {
		if err := m.fill(); err != nil {
			return nil, nil, err
		}
	}
	m.taken = from + length
	return m.buf[:from-len(headEnd)], m.buf[from:m.taken], nil
}

// fill reads what has come, whatever that is.
func (m *messages) fill() error {
	if m.read == len(m.buf) {
		if m.read >= largestBuffer {
			return errTooLarge
		}
		m.buf = append(m.buf, make([]byte, max(firstBuffer, len(m.buf)))...)
	}
	n, err := m.from.Read(m.buf[m.read:])
	m.read += n
	switch {
	case n > 0:
		return nil
	case err == io.EOF && m.read > 0:
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// contentLength is how long the body of a message is: 0 when the head says nothing.
func contentLength(head []byte) (int, error) {
	if _, ok := header(head, "Transfer-Encoding"); ok {
		return 0, errChunked
	}
	value, ok := header(head, "Content-Length")
	if !ok {
		return 0, nil
	}
	n := 0
	for _, digit := range value {
		if digit < '0' || digit > '9' || n > largestBuffer {
			return 0, fmt.Errorf("an HTTP message has the Content-Length %q", value)
		}
		n = n*10 + int(digit-'0')
	}
	if len(value) == 0 {
		return 0, errors.New("an HTTP message has an empty Content-Length")
	}
	return n, nil
}

// header finds the value of a header.
func header(head []byte, name string) ([]byte, bool) {
	for rest := head; ; {
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			return nil, false
		}
		rest = rest[at+1:]
		if len(rest) <= len(name) || rest[len(name)] != ':' || !sameName(rest[:len(name)], name) {
			continue
		}
		value := rest[len(name)+1:]
		if end := bytes.IndexByte(value, '\r'); end >= 0 {
			value = value[:end]
		}
		return bytes.TrimSpace(value), true
	}
}

// sameName compares names of headers, which are ASCII letters and hyphens.
func sameName(got []byte, want string) bool {
	for i := range got {
		if got[i]|0x20 != want[i]|0x20 {
			return false
		}
	}
	return true
}

// member finds the text that follows the opening of a member, such as
// `"reference":"`, in compact JSON. It knows no escapes: ids, codes and states have
// none.
func member(body []byte, opening string) ([]byte, bool) {
	at := bytes.Index(body, []byte(opening))
	if at < 0 {
		return nil, false
	}
	value := body[at+len(opening):]
	end := bytes.IndexByte(value, '"')
	if end < 0 {
		return nil, false
	}
	return value[:end], true
}
