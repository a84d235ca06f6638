package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"causeway/adapters/pages/web"
	"causeway/adapters/pages/web/webtest"
)

func TestReceiveUpload_KeepsArriving(t *testing.T) {
	t.Parallel()
	// A body that stops, arrives in drops, is too large or takes too long is given up. One that arrives steadily is read whole, also if what
	// reads it pauses for longer than its sender may.
	const mib = 1 << 20
	late := os.ErrDeadlineExceeded
	for name, c := range map[string]struct {
		size, fast, piece int // of the fast bytes, all arrive at once
		pause, read       time.Duration
		took              time.Duration
		err               error
	}{
		"nothing":                 {size: mib, piece: 1, pause: time.Hour, took: 30 * time.Second, err: late},
		"drops":                   {size: mib, piece: 1, pause: 7 * time.Second, took: 30 * time.Second, err: late},
		"stops after a fast MiB":  {size: 2 * mib, fast: mib, piece: 1, pause: time.Hour, took: 30 * time.Second, err: late},
		"drops after a fast MiB":  {size: 2 * mib, fast: mib, piece: 1, pause: 29 * time.Second, took: 158 * time.Second, err: late},
		"steady":                  {size: mib, piece: 10 << 10, pause: time.Second, took: 104 * time.Second},
		"steady with long pauses": {size: mib, piece: mib / 4, pause: 25 * time.Second, took: 125 * time.Second},
		"too long":                {size: 4 * mib, piece: 10 << 10, pause: time.Second, took: 5 * time.Minute, err: late},
		"too large":               {size: 5 * mib, piece: mib, pause: time.Second, took: 5 * time.Second, err: &http.MaxBytesError{}},
		"read slowly":             {size: mib, piece: mib / 4, read: 45 * time.Second, took: 3 * time.Minute},
		"read too slowly":         {size: 4 * mib, piece: mib / 4, read: 45 * time.Second, took: 315 * time.Second, err: late},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodPost, "/", nil)
				sender := &webtest.Sender{ResponseRecorder: httptest.NewRecorder(), Body: strings.NewReader(strings.Repeat("x", c.size)),
					Fast: c.fast, Piece: c.piece, Pause: c.pause}
				r.Body = sender
				if err := web.ReceiveUpload(sender, r, 4*mib, 5*time.Minute, time.Second); err != nil {
					t.Fatal(err)
				}
				begun, received, buffer := time.Now(), 0, make([]byte, mib)
				var err error
				for err == nil {
					var n int
					if n, err = r.Body.Read(buffer); err == nil {
						time.Sleep(c.read)
					}
					received += n
				}
				if c.err == nil && (err != io.EOF || received != c.size) || c.err != nil && !errors.Is(err, c.err) && !isTooLarge(err, c.err) {
					t.Errorf("%d bytes, %v", received, err)
				}
				if took := time.Since(begun).Round(time.Second); took != c.took {
					t.Errorf("after %s, want %s", took, c.took)
				}
			})
		})
	}
}

func isTooLarge(err, want error) bool {
	_, is := errors.AsType[*http.MaxBytesError](err)
	_, wanted := errors.AsType[*http.MaxBytesError](want)
	return is && wanted
}
