package httpapi

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"causeway/core/fault"
)

// A request with both Content-Length and Transfer-Encoding has two lengths. If a proxy believes the other one, the rest of the body is
// a request of its own, which the proxy has not checked. net/http drops one of the fields, so the headers are also read here.

// framingListener accepts connections whose requests are looked at.
type framingListener struct{ net.Listener }

// Accept implements net.Listener.
func (l framingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framedConn{Conn: conn}, nil
}

// framedConn reads headers up to the first request with Transfer-Encoding: the connection is closed after that one, so that the end of
// its body need not be found.
type framedConn struct {
	net.Conn
	encoded   atomic.Bool // has received a request with Transfer-Encoding
	ambiguous atomic.Bool // has received a request with two lengths

	done   bool
	header []byte // of the next request, as far as it was received
	body   int64  // bytes that are left of the body before it
}

// Read implements net.Conn.
func (c *framedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0 && !c.done; {
		rest = c.take(rest)
	}
	return n, err
}

// take returns what follows the body or the header that it has read.
func (c *framedConn) take(received []byte) (rest []byte) {
	if skipped := min(c.body, int64(len(received))); skipped > 0 {
		c.body -= skipped
		return received[skipped:]
	}
	if len(c.header) == 0 { // as net/http, which some clients send an empty line after a body
		received = bytes.TrimLeft(received, "\r\n")
	}
	before := len(c.header)
	c.header = append(c.header, received...)
	end := headerEnd(c.header, max(0, before-len("\n\r\n")))
	if end < 0 {
		c.done = len(c.header) > 2*maxHeaderBytes // net/http refuses it
		return nil
	}
	c.readHeader(c.header[:end])
	c.header = c.header[:0]
	return received[end-before:]
}

// headerEnd returns the position after the empty line that ends a header, or -1.
func headerEnd(header []byte, from int) int {
	for at := from; ; {
		line := bytes.IndexByte(header[at:], '\n')
		if line < 0 {
			return -1
		}
		at += line + 1
		switch rest := header[at:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return at + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return at + 2
		}
	}
}

func (c *framedConn) readHeader(header []byte) {
	c.body = 0
	hasLength, isEncoded := false, false
	for line := range bytes.Lines(header) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch { // a line that begins with a space continues the value before it
		case bytes.EqualFold(name, []byte("Content-Length")):
			hasLength = true
			length, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			c.body, c.done = length, c.done || err != nil || length < 0 // net/http refuses it
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			isEncoded = true
		}
	}
	if isEncoded {
		c.ambiguous.Store(hasLength)
		c.encoded.Store(true)
		c.done = true
	}
}

type framedConnKey struct{}

func withFramedConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, framedConnKey{}, conn)
}

// checkFraming refuses a request with two lengths, and what was sent on the same connection before it was answered.
func checkFraming(w http.ResponseWriter, r *http.Request) error {
	conn, ok := r.Context().Value(framedConnKey{}).(*framedConn)
	if !ok || !conn.encoded.Load() {
		return nil
	}
	if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) { // HTTP/1.0 has no encodings, and net/http ignores them
		w.Header().Set("Connection", "close")
	}
	if !conn.ambiguous.Load() {
		return nil
	}
	w.Header().Set("Connection", "close")
	return fault.New(fault.InvalidRequestFormat, "The request has both Content-Length and Transfer-Encoding. Send one of them.")
}
