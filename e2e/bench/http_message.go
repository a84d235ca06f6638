package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// messageReader reads HTTP/1.1 messages (requests or responses) from one connection. It
// allocates nothing once its buffer has grown, because the generator shares the processors
// with what it measures.
type messageReader struct {
	source   io.Reader
	buf      []byte
	consumed int // buf[:consumed] is the last message returned
	filled   int // buf[:filled] has been read
}

const (
	initialBufferSize = 8 << 10
	maxBufferSize     = 1 << 20
)

var (
	headerEnd = []byte("\r\n\r\n")

	errTooLarge = fmt.Errorf("an HTTP message is larger than %d bytes", maxBufferSize)
	errChunked  = errors.New("an HTTP message is chunked; only Content-Length is supported")
)

// next reads one message. The head (without the empty line) and the body are valid until the
// next call. If the connection ends, it returns io.EOF between two messages and
// io.ErrUnexpectedEOF within one.
func (m *messageReader) next() (head, body []byte, err error) {
	copy(m.buf, m.buf[m.consumed:m.filled])
	m.filled -= m.consumed
	m.consumed = 0
	searched := 0
	for {
		if index := bytes.Index(m.buf[searched:m.filled], headerEnd); index >= 0 {
			head = m.buf[:searched+index]
			break
		}
		searched = max(0, m.filled-len(headerEnd)+1)
		if err := m.fill(); err != nil {
			return nil, nil, err
		}
	}
	length, err := contentLength(head)
	if err != nil {
		return nil, nil, err
	}
	from := len(head) + len(headerEnd)
	if from+length > maxBufferSize {
		return nil, nil, errTooLarge
	}
	for m.filled < from+length {
		if err := m.fill(); err != nil {
			return nil, nil, err
		}
	}
	m.consumed = from + length
	return m.buf[:from-len(headerEnd)], m.buf[from:m.consumed], nil
}

// fill reads what is available.
func (m *messageReader) fill() error {
	if m.filled == len(m.buf) {
		if m.filled >= maxBufferSize {
			return errTooLarge
		}
		m.buf = append(m.buf, make([]byte, max(initialBufferSize, len(m.buf)))...)
	}
	n, err := m.source.Read(m.buf[m.filled:])
	m.filled += n
	switch {
	case n > 0:
		return nil
	case err == io.EOF && m.filled > 0:
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// contentLength returns the length of the body, 0 if the head has none.
func contentLength(head []byte) (int, error) {
	if _, ok := headerValue(head, "Transfer-Encoding"); ok {
		return 0, errChunked
	}
	value, ok := headerValue(head, "Content-Length")
	if !ok {
		return 0, nil
	}
	n := 0
	for _, digit := range value {
		if digit < '0' || digit > '9' || n > maxBufferSize {
			return 0, fmt.Errorf("an HTTP message has the Content-Length %q", value)
		}
		n = n*10 + int(digit-'0')
	}
	if len(value) == 0 {
		return 0, errors.New("an HTTP message has an empty Content-Length")
	}
	return n, nil
}

// headerValue returns the value of a header.
func headerValue(head []byte, name string) ([]byte, bool) {
	for rest := head; ; {
		index := bytes.IndexByte(rest, '\n')
		if index < 0 {
			return nil, false
		}
		rest = rest[index+1:]
		if len(rest) <= len(name) || rest[len(name)] != ':' || !equalHeaderName(rest[:len(name)], name) {
			continue
		}
		value := rest[len(name)+1:]
		if end := bytes.IndexByte(value, '\r'); end >= 0 {
			value = value[:end]
		}
		return bytes.TrimSpace(value), true
	}
}

// equalHeaderName compares names of headers, which are ASCII letters and hyphens.
func equalHeaderName(got []byte, want string) bool {
	for i := range got {
		if got[i]|0x20 != want[i]|0x20 {
			return false
		}
	}
	return true
}

// jsonText returns the text after the opening of a member, such as `"reference":"`, in
// compact JSON without escapes: ids, codes and states have none.
func jsonText(body []byte, opening string) ([]byte, bool) {
	index := bytes.Index(body, []byte(opening))
	if index < 0 {
		return nil, false
	}
	value := body[index+len(opening):]
	end := bytes.IndexByte(value, '"')
	if end < 0 {
		return nil, false
	}
	return value[:end], true
}
