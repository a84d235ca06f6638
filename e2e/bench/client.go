package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/apiclient"
)

// basePath is the version of the interface that the generator uses.
const basePath = "/2025-10-13"

// target is the service and the platform that uses it.
type target struct {
	address string // host:port
	header  string // of every request, from the version of HTTP on
	api     *apiclient.Client
}

func newTarget(address, clientID, clientSecret string) target {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxSetupConnections
	authorization := base64.StdEncoding.EncodeToString([]byte(clientID + ":" + clientSecret))
	return target{
		address: address,
		header:  " HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: Basic " + authorization + "\r\nContent-Type: application/json\r\n",
		api: &apiclient.Client{BaseURL: "http://" + address + basePath, ClientID: clientID, ClientSecret: clientSecret,
			HTTP: &http.Client{Transport: transport}},
	}
}

// appendRequest appends a request with its idempotency key, if it has one, and its body.
func (t target) appendRequest(to []byte, method, path, key string, body []byte) []byte {
	to = append(to, method...)
	to = append(to, " "+basePath...)
	to = append(to, path...)
	to = append(to, t.header...)
	if key != "" {
		to = append(to, "Idempotency-Key: "...)
		to = append(to, key...)
		to = append(to, "\r\n"...)
	}
	to = append(to, "Content-Length: "...)
	to = strconv.AppendInt(to, int64(len(body)), 10)
	to = append(to, "\r\n\r\n"...)
	return append(to, body...)
}

// client is one keep-alive connection to the service, for one request at a time.
type client struct {
	conn       net.Conn
	responses  *messageReader
	stopCancel func() bool
}

// dial connects. When ctx ends, the connection is closed.
func dial(ctx context.Context, address string) (*client, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn, newMessageReader(conn), context.AfterFunc(ctx, func() { _ = conn.Close() })}, nil
}

func (c *client) close() {
	c.stopCancel()
	_ = c.conn.Close()
}

// roundTrip sends a request and reads its response. The body is valid until the next call.
func (c *client) roundTrip(request []byte) (status int, body []byte, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	head, body, err := c.responses.next()
	if err != nil {
		return 0, nil, err
	}
	const before = len("HTTP/1.1 ")
	if len(head) < before+3 || !bytes.HasPrefix(head, []byte("HTTP/1.")) {
		return 0, nil, fmt.Errorf("not an HTTP response: %.40q", head)
	}
	status, err = strconv.Atoi(string(head[before : before+3]))
	return status, body, err
}

// get measures a GET request. The body is valid until the next call.
func (c *client) get(t target, path string) ([]byte, time.Duration, error) {
	request := t.appendRequest(nil, "GET", path, "", nil)
	start := time.Now()
	status, body, err := c.roundTrip(request)
	duration := time.Since(start)
	if err == nil && status != http.StatusOK {
		err = newUnexpectedStatus("GET "+path, status, body)
	}
	return body, duration, err
}

// newUnexpectedStatus returns an error for a response to a request such as "POST /quotes".
func newUnexpectedStatus(request string, status int, body []byte) error {
	method, path, _ := strings.Cut(request, " ")
	if err := (&apiclient.Response{Status: status, Body: body}).Err(method, path); err != nil {
		return err
	}
	return fmt.Errorf("%s: unexpected status %d", request, status)
}

// messageReader reads HTTP/1.1 messages (requests or responses) from one connection. It
// allocates nothing once its buffers have grown, because the generator shares the processors
// with what it measures.
type messageReader struct {
	source     *bufio.Reader
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

func newMessageReader(source io.Reader) *messageReader {
	return &messageReader{source: bufio.NewReaderSize(source, initialBufferSize)}
}

// next reads one message. The head (without the empty line) and the body are valid until the
// next call. If the connection ends, it returns io.EOF between two messages and
// io.ErrUnexpectedEOF within one.
func (m *messageReader) next() (head, body []byte, err error) {
	m.head = m.head[:0]
	for !bytes.HasSuffix(m.head, headerEnd) {
		line, err := m.source.ReadSlice('\n')
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
	if _, err := io.ReadFull(m.source, m.body[:length]); err == io.EOF {
		return nil, nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, nil, err
	}
	return m.head[:len(m.head)-len(headerEnd)], m.body[:length], nil
}

// contentLength returns the length of the body, 0 if the head has none.
func contentLength(head []byte) (int, error) {
	for line := range bytes.Lines(head) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case strings.EqualFold(string(name), "Transfer-Encoding"):
			return 0, errChunked
		case strings.EqualFold(string(name), "Content-Length"):
			length, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 32)
			if err != nil {
				return 0, fmt.Errorf("an HTTP message has the Content-Length %q", value)
			}
			if length > maxBufferSize {
				return 0, errTooLarge
			}
			return int(length), nil
		}
	}
	return 0, nil
}

// jsonText returns the text after the opening of a member, such as `"reference":"`, in
// compact JSON without escapes: ids, codes and states have none.
func jsonText(body []byte, opening string) ([]byte, bool) {
	_, value, _ := bytes.Cut(body, []byte(opening))
	text, _, found := bytes.Cut(value, []byte{'"'})
	if !found {
		return nil, false
	}
	return text, true
}
