package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"causeway/adapters/apiclient"
)

// newClient returns a client for everything but the load.
func newClient(address, id, secret string) *apiclient.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxSetupConnections
	return &apiclient.Client{BaseURL: "http://" + address + basePath, ClientID: id, ClientSecret: secret,
		HTTP: &http.Client{Transport: transport}}
}

// connection is one keep-alive connection to the service, for one request at a time. It takes
// half the processor time of net/http's client, because it starts no goroutines.
type connection struct {
	net.Conn
	stopCancel      func() bool
	responses       *bufio.Reader
	header          string // of every request
	idempotencyKeys bool
	request, body   bytes.Buffer
}

// connect connects as a client does. When ctx ends, the connection is closed.
func connect(ctx context.Context, c *apiclient.Client, idempotencyKeys bool) *connection {
	host := must(url.Parse(c.BaseURL)).Host
	conn := must((&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", host))
	authorization := base64.StdEncoding.EncodeToString([]byte(c.ClientID + ":" + c.ClientSecret))
	return &connection{Conn: conn, stopCancel: context.AfterFunc(ctx, func() { _ = conn.Close() }),
		responses: bufio.NewReader(conn), idempotencyKeys: idempotencyKeys,
		header: " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Basic " + authorization + "\r\nContent-Type: application/json\r\n"}
}

func (c *connection) close() {
	c.stopCancel()
	_ = c.Close()
}

// The counter makes idempotency keys; the prefix makes them unique.
var (
	idempotencyCounter atomic.Int64
	idempotencyPrefix  = "bench-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
)

// post makes a request that must have this status, and returns the body of its response. That
// is valid until the next call.
func (c *connection) post(path string, want int, body []byte) []byte {
	c.request.Reset()
	c.request.WriteString("POST " + basePath + path + c.header)
	if c.idempotencyKeys {
		fmt.Fprintf(&c.request, "Idempotency-Key: %s%d\r\n", idempotencyPrefix, idempotencyCounter.Add(1))
	}
	fmt.Fprintf(&c.request, "Content-Length: %d\r\n\r\n%s", len(body), body)
	must(c.Write(c.request.Bytes()))
	response, err := http.ReadResponse(c.responses, nil)
	check(err)
	defer response.Body.Close()
	c.body.Reset()
	must(c.body.ReadFrom(response.Body))
	if response.StatusCode != want {
		check((&apiclient.Response{Status: response.StatusCode, Body: c.body.Bytes()}).Err("POST", path))
		failf("POST %s: unexpected status %d", path, response.StatusCode)
	}
	return c.body.Bytes()
}
