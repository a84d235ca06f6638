package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"time"
)

// basePath is the version of the interface that the generator speaks.
const basePath = "/2025-10-13"

// target is the service and the platform that uses it.
type target struct {
	address       string // host:port
	authorization string
}

func newTarget(address, clientID, clientSecret string) target {
	return target{address, "Basic " + base64.StdEncoding.EncodeToString([]byte(clientID+":"+clientSecret))}
}

// requestLine is the part of a request that does not change: everything up to the
// Content-Length. The path is below basePath.
func (t target) requestLine(method, path string) string {
	return method + " " + basePath + path + " HTTP/1.1\r\nHost: " + t.address + "\r\nAuthorization: " + t.authorization +
		"\r\nContent-Type: application/json\r\n"
}

// appendRequest makes a request of its line and body; key is its idempotency key,
// if it is to have one.
func appendRequest(to []byte, line, key string, body []byte) []byte {
	to = append(to, line...)
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
	responses  messageReader
	stopCancel func() bool
}

// dial connects. When ctx ends the connection is closed, so that nobody waits on it.
func dial(ctx context.Context, address string) (*client, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &client{conn: conn, responses: messageReader{source: conn}, stopCancel: release}, nil
}

func (c *client) close() {
	c.stopCancel()
	_ = c.conn.Close()
}

// roundTrip sends a request and reads its answer; the body is good until the next one.
func (c *client) roundTrip(request []byte) (status int, body []byte, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	head, body, err := c.responses.next()
	if err != nil {
		return 0, nil, err
	}
	status, err = parseStatus(head)
	return status, body, err
}

// parseStatus reads the status of "HTTP/1.1 201 Created".
func parseStatus(head []byte) (int, error) {
	const before = len("HTTP/1.1 ")
	if len(head) < before+3 || string(head[:7]) != "HTTP/1." {
		return 0, fmt.Errorf("not an HTTP answer: %.40q", head)
	}
	status, err := strconv.Atoi(string(head[before : before+3]))
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("an HTTP answer with the status %.3q", head[before:])
	}
	return status, nil
}

// unexpectedStatus is an answer that means the service is not doing its job.
type unexpectedStatus struct {
	request string
	status  int
	body    string
}

func (u *unexpectedStatus) Error() string {
	return fmt.Sprintf("%s was answered %d: %s", u.request, u.status, u.body)
}

func newUnexpectedStatus(request string, status int, body []byte) error {
	return &unexpectedStatus{request, status, string(body[:min(len(body), 500)])}
}

// call makes one request with JSON both ways, for what is not on the hot path.
func (c *client) call(t target, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	status, answer, err := c.roundTrip(appendRequest(nil, t.requestLine(method, path), "", body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if status > 299 {
		return newUnexpectedStatus(method+" "+path, status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
