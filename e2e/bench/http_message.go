package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// messageReader reads HTTP/1.1 messages (requests or responses) from one connection. It
// allocates nothing once its buffers have grown, because the generator shares the processors
// with what it measures.
type messageReader struct {
	source     io.Reader
	buffer     *bufio.Reader // of source; nil until next
	head, body []byte
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
	if m.buffer == nil {
		m.buffer = bufio.NewReaderSize(m.source, initialBufferSize)
	}
	m.head = m.head[:0]
	for !bytes.HasSuffix(m.head, headerEnd) {
		line, err := m.buffer.ReadSlice('\n')
		m.head = append(m.head, line...)
		switch {
		case len(m.head) > maxBufferSize:
			return nil, nil, errTooLarge
		case err == io.EOF && len(m.head) > 0:
			return nil, nil, io.ErrUnexpectedEOF
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // a long line is read in parts
			return nil, nil, err
		}
	}
	length, err := contentLength(m.head)
	if err != nil {
		return nil, nil, err
	}
	if length > len(m.body) {
		m.body = make([]byte, length)
	}
	if n, err := io.ReadFull(m.buffer, m.body[:length]); n < length {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, err
	}
	return m.head[:len(m.head)-len(headerEnd)], m.body[:length], nil
}

// contentLength returns the length of the body, 0 if the head has none.
func contentLength(head []byte) (int, error) {
	length := 0
	for line := range bytes.Lines(head) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case strings.EqualFold(string(name), "Transfer-Encoding"):
			return 0, errChunked
		case strings.EqualFold(string(name), "Content-Length"):
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 32)
			if err != nil {
				return 0, fmt.Errorf("an HTTP message has the Content-Length %q", value)
			}
			length = int(n)
		}
	}
	if length > maxBufferSize {
		return 0, errTooLarge
	}
	return length, nil
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
