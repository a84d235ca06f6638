package web

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// maxPause is how long a browser may send nothing of a form with a file, as a client of the API.
	maxPause = 30 * time.Second
	// minRate is how many bytes it sends each second at least, on average and besides one such pause: 64 kbit/s.
	minRate = 8 << 10
)

// ReceiveUpload limits the body of a form with a file: its size, the time until it has arrived, and how slowly it arrives. The response may
// be written until answer later.
func ReceiveUpload(w http.ResponseWriter, r *http.Request, maxBytes int64, timeout, answer time.Duration) error {
	body := &arrivingBody{ReadCloser: r.Body, control: http.NewResponseController(w), until: time.Now().Add(timeout)}
	// The writers of tests have no deadlines.
	if err := body.control.SetWriteDeadline(body.until.Add(answer)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	r.Body = http.MaxBytesReader(w, body, maxBytes)
	return nil
}

// arrivingBody is a body that has to keep arriving. Only the time in which it is waited for counts: who reads it may do so slowly.
type arrivingBody struct {
	io.ReadCloser
	control  *http.ResponseController
	until    time.Time
	received int64
	waited   time.Duration
}

// Read implements io.Reader.
func (b *arrivingBody) Read(p []byte) (int, error) {
	begun := time.Now()
	room := maxPause + time.Duration(b.received)*time.Second/minRate - b.waited
	deadline := begun.Add(min(room, maxPause))
	if b.until.Before(deadline) {
		deadline = b.until
	}
	_ = b.control.SetReadDeadline(deadline) // as above
	n, err := b.ReadCloser.Read(p)
	b.received += int64(n)
	b.waited += time.Since(begun)
	return n, err
}
