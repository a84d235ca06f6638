package webhooks

import (
	"io"
	"log"
	"net"
	"testing"
)

// serveTCP starts a server that handles its connections with serve, and returns its URL.
func serveTCP(t testing.TB, serve func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "http://" + listener.Addr().String() + "/"
}

// closedPortURL returns the URL of a port without a listener.
func closedPortURL(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return "http://" + listener.Addr().String() + "/"
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
