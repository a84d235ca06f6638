package apiclient

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Delivery is one webhook as it was received.
type Delivery struct {
	Request    *http.Request // its body is read
	Body       []byte
	ReceivedAt time.Time
	Err        error // what is wrong with the signatures
}

// Receiver is a webhook endpoint on a free port of the loopback address.
type Receiver struct {
	URL    string
	server *http.Server
}

// Listen starts a receiver at a path. It verifies every delivery and calls handle, which
// returns the status and body to respond with. A delivery with a wrong signature is
// responded to with 401 whatever handle returns.
func Listen(path string, v *Verifier, handle func(Delivery) (status int, body string)) (*Receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for webhooks: %w", err)
	}
	r := &Receiver{URL: "http://" + listener.Addr().String() + path}
	r.server = &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
		if err != nil {
			return // the sender has ended
		}
		d := Delivery{Request: request, Body: body, ReceivedAt: time.Now()}
		d.Err = v.Verify(context.WithoutCancel(request.Context()), request.Header, body, d.ReceivedAt)
		status, reply := handle(d)
		if d.Err != nil {
			status, reply = http.StatusUnauthorized, d.Err.Error()
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	})}
	go func() { _ = r.server.Serve(listener) }() // returns after Close
	return r, nil
}

// Close responds to what was received, and stops listening.
func (r *Receiver) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
}
