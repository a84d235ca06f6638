package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestMessageReader_SplitReads(t *testing.T) {
	// Messages are complete and in order, however the bytes of the connection are split.
	t.Parallel()
	longText := strings.Repeat("x", 3*initialBufferSize)
	stream := "HTTP/1.1 201 Created\r\nContent-Length: 7\r\n\r\n{\"a\":1}" +
		"POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length:3\r\nwebhook-id: w\r\n\r\nabc" +
		"HTTP/1.1 204 No Content\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Length: " + fmt.Sprint(len(longText)) + "\r\n\r\n" + longText
	for name, from := range map[string]io.Reader{
		"at once":      strings.NewReader(stream),
		"byte by byte": iotest.OneByteReader(strings.NewReader(stream)),
		"in halves":    iotest.HalfReader(strings.NewReader(stream)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMessageReader(from)

			var got []string
			for {
				head, body, err := m.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				first, _, _ := strings.Cut(string(head), "\r\n")
				got = append(got, first+" "+string(body))
			}

			want := []string{"HTTP/1.1 201 Created {\"a\":1}", "POST /webhooks HTTP/1.1 abc", "HTTP/1.1 204 No Content ", "HTTP/1.1 200 OK " + longText}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got %d messages: %.300q", len(got), got)
			}
		})
	}
}

func TestMessageReader_InvalidInput(t *testing.T) {
	// An invalid message is an error.
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"cut in the head":  {"HTTP/1.1 200 OK\r\nConte", io.ErrUnexpectedEOF},
		"cut in the body":  {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", io.ErrUnexpectedEOF},
		"chunked":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", errChunked},
		"too large a body": {"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n", errTooLarge},
		"too large a head": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxBufferSize), errTooLarge},
		"nothing":          {"", io.EOF},
		"negative length":  {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", nil},
		"absurd length":    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", nil},
		"empty length":     {"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMessageReader(strings.NewReader(c.stream))
			head, body, err := m.next()
			if err == nil || (c.want != nil && !errors.Is(err, c.want)) {
				t.Errorf("got %q %q, %v; want %v", head, body, err, c.want)
			}
		})
	}
}

func FuzzMessageReader(f *testing.F) {
	// For any input, reading ends, and no byte is returned twice.
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcdPOST / HTTP/1.1\r\n\r\n")
	f.Fuzz(func(t *testing.T, stream string) {
		m := newMessageReader(iotest.HalfReader(strings.NewReader(stream)))
		taken := 0
		for {
			head, body, err := m.next()
			if err != nil {
				return
			}
			taken += len(head) + len(headerEnd) + len(body)
			if taken > len(stream) {
				t.Fatalf("took %d bytes of %d", taken, len(stream))
			}
			if !strings.HasSuffix(stream[:taken], string(headerEnd)+string(body)) {
				t.Fatalf("%q is not where %q ends", body, stream[:taken])
			}
		}
	})
}

func TestJSONText(t *testing.T) {
	// A text is found by the opening of its member; without one it is not found.
	t.Parallel()
	body := []byte(`{"id":"Quote:1","info":{"reference":"4T9K"},"open":"`)
	for opening, want := range map[string]string{`"id":"`: "Quote:1", `"reference":"`: "4T9K", `"none":"`: "", `"open":"`: ""} {
		if got, ok := jsonText(body, opening); string(got) != want || ok != (want != "") {
			t.Errorf("%s: got %q %v; want %q", opening, got, ok, want)
		}
	}
}
