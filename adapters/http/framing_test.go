package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestServer_TwoLengthsAreRefused(t *testing.T) {
	t.Parallel()
	// A request with Content-Length and Transfer-Encoding gets 400 in whatever order, case and place on its connection, and the
	// connection ends, so that nothing in its body is run as a request. One length alone is accepted.
	f := newFixture(t)
	base, _, _ := f.startServer(DefaultTimeouts)
	const chunked, length = "Transfer-Encoding: chunked\r\n", "Content-Length: 6\r\n"
	const get = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	post := func(fields, body string) string {
		return "POST /healthz HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body
	}
	likeHeader := fmt.Sprintf("%-60s", "\r\n\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
	for name, c := range map[string]struct {
		sent string
		want []int
	}{
		"length first":       {post(length+chunked, "0\r\n\r\n"+get), []int{400}},
		"encoding first":     {post(chunked+length, "0\r\n\r\n"+get), []int{400}},
		"other case":         {post("content-LENGTH:6\r\ntransfer-ENCODING:\tchunked\r\n", "0\r\n\r\n"+get), []int{400}},
		"after a body":       {post(length, "abcdef") + post(length+chunked, "0\r\n\r\n"), []int{400}},
		"HTTP/1.0":           {strings.Replace(post(length+chunked, "abcdef"), "1.1", "1.0", 1), []int{400}},
		"encoding":           {post(chunked, "0\r\n\r\n"), []int{405}},
		"encoding, and more": {post(chunked, "0\r\n\r\n"+get), []int{405}},
		"length":             {post(length, "abcdef") + get, []int{405, 200}},
		"text in a body":     {post("Content-Length: 60\r\n", likeHeader) + get, []int{405, 200}},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, c.sent); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		var got []int
		for in := bufio.NewReader(conn); ; {
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				break
			}
			_, _ = io.Copy(io.Discard, response.Body) // a body may be cut off by the end of the connection
			got = append(got, response.StatusCode)
		}
		_ = conn.Close()
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestFramedConn_FindsRequestsInAnyPieces(t *testing.T) {
	t.Parallel()
	// Where a header begins and ends does not depend on the pieces in which it arrives.
	const before = "\r\nPOST / HTTP/1.1\r\nContent-Length: 9\r\nX: a\r\n Transfer-Encoding: folded\r\n\r\nbody\r\n\r\nx" +
		"\r\nGET / HTTP/1.1\nHost: x\n\n"
	for name, of := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		for last, want := range map[string][2]bool{
			"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                                        {false, false},
			"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n":                    {true, false},
			"POST / HTTP/1.1\r\nTransfer-Encoding: x\r\nContent-Length: 0\r\nY: z\n\n": {true, true},
		} {
			conn := &framedConn{Conn: readerConn{r: of(strings.NewReader(before + last))}}
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Fatal(err)
			}
			if got := [2]bool{conn.encoded.Load(), conn.ambiguous.Load()}; got != want {
				t.Errorf("%s, %q: encoded and ambiguous are %v, want %v", name, last, got, want)
			}
		}
	}
}

// readerConn is a connection on which a reader is received.
type readerConn struct {
	net.Conn
	r io.Reader
}

func (c readerConn) Read(b []byte) (int, error) { return c.r.Read(b) }
