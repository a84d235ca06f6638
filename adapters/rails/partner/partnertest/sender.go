package partnertest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/core/signedmessage"
)

// Send sends an event to the service once, and returns the status of the answer; zero if there is none.
func (s *Sidecar) Send(ctx context.Context, url string, e partner.Event) int {
	body, err := json.Marshal(e)
	if err != nil {
		return 0
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	at := s.Now()
	if s.Fault == SendsOldTimes {
		at = at.Add(-time.Hour)
	}
	h := s.Secrets.Sign(e.ID, at, body)
	if s.Fault == SendsUnsigned {
		h.Signature = "v1,AAAA"
	}
	request.Header.Set(signedmessage.IDHeader, h.ID)
	request.Header.Set(signedmessage.TimestampHeader, h.Timestamp)
	request.Header.Set(signedmessage.SignatureHeader, h.Signature)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// Run lets the bank work at an interval, and sends each event until it is answered with a status that ends it. It
// returns when the context ends.
func (s *Sidecar) Run(ctx context.Context, url string, interval time.Duration) {
	sent := map[int]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		s.Step()
		if s.Fault == SendsNothing {
			continue
		}
		for i, e := range s.Events(0) {
			if sent[i] {
				continue
			}
			status := s.Send(ctx, url, e)
			sent[i] = status != 0 && status != http.StatusTooManyRequests && status < 500 || s.Fault == SendsOnce
		}
	}
}
