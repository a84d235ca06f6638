package main

import (
	"context"
	"encoding/base64"
	"fmt"
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
	address       string // host:port
	authorization string
	api           *apiclient.Client // for what is not measured by the microsecond
}

func newTarget(address, clientID, clientSecret string) target {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxSetupConnections
	return target{address, "Basic " + base64.StdEncoding.EncodeToString([]byte(clientID+":"+clientSecret)),
		&apiclient.Client{BaseURL: "http://" + address + basePath, ClientID: clientID, ClientSecret: clientSecret, HTTP: &http.Client{Transport: transport}}}
}

// requestLine returns the part of a request that does not change: everything up to the
// Content-Length. The path is below basePath.
func (t target) requestLine(method, path string) string {
	return method + " " + basePath + path + " HTTP/1.1\r\nHost: " + t.address + "\r\nAuthorization: " + t.authorization +
		"\r\nContent-Type: application/json\r\n"
}

// appendRequest appends a request: its line, its idempotency key if it has one, its body.
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

// dial connects. When ctx ends, the connection is closed.
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

// roundTrip sends a request and reads its response. The body is valid until the next call.
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

// get measures a GET request. The body is valid until the next call.
func (c *client) get(t target, path string) ([]byte, time.Duration, error) {
	request := appendRequest(nil, t.requestLine(http.MethodGet, path), "", nil)
	start := time.Now()
	status, body, err := c.roundTrip(request)
	duration := time.Since(start)
	if err == nil && status != http.StatusOK {
		err = newUnexpectedStatus("GET "+path, status, body)
	}
	return body, duration, err
}

// parseStatus reads the status of "HTTP/1.1 201 Created".
func parseStatus(head []byte) (int, error) {
	const before = len("HTTP/1.1 ")
	if len(head) < before+3 || string(head[:7]) != "HTTP/1." {
		return 0, fmt.Errorf("not an HTTP response: %.40q", head)
	}
	status, err := strconv.Atoi(string(head[before : before+3]))
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("an HTTP response with the status %.3q", head[before:])
	}
	return status, nil
}

// newUnexpectedStatus returns an error for a response to a request such as "POST /quotes".
func newUnexpectedStatus(request string, status int, body []byte) error {
	method, path, _ := strings.Cut(request, " ")
	if err := (&apiclient.Response{Status: status, Body: body}).Err(method, path); err != nil {
		return err
	}
	return fmt.Errorf("%s: unexpected status %d", request, status)
}
