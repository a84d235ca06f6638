package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
)

func (s *Suite) checkHealth(ctx context.Context) error {
	_, err := s.client.Health(ctx)
	return err
}

func (s *Suite) checkBalances(ctx context.Context) error {
	_, err := s.client.Balances(ctx)
	return err
}

// wantStatus returns an error unless err is the status of an answer.
func wantStatus(request string, err error, want int) error {
	var status *partner.StatusError
	switch {
	case err == nil:
		return fmt.Errorf("%s was answered as a success, not with %d", request, want)
	case !errors.As(err, &status) || status.Status != want:
		return fmt.Errorf("%s was not answered with %d: %w", request, want, err)
	}
	return nil
}

// roundTripper is a function as a http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// signing checks how a sidecar checks signatures.
type signing struct {
	connection rail.Connection
	clock      ports.Clock
	secrets    signedmessage.Secrets
	// requests are some that succeed if they are signed, one without a body among them.
	requests []request
}

// request is a request by its name, such as "GET /balances".
type request struct {
	name string
	make func(ctx context.Context, client *partner.Client) error
}

func (s signing) rules() []rule {
	return []rule{
		{"unsigned", "a request without a signature, or with one by another secret, gets 401", s.checkUnsigned},
		{"changed", "a request that was changed after it was signed gets 401", s.checkChanged},
		{"old", "a request that was signed an hour ago gets 401", s.checkOld},
		{"two-secrets", "a request with two signatures is accepted if one of them is valid", s.checkTwoSecrets},
	}
}

// refusesAll checks that every request gets 401, after tamper has changed it.
func (s signing) refusesAll(ctx context.Context, what string, secrets testSecrets, at time.Duration, tamper func(*http.Request)) error {
	client, err := partner.OpenClient(s.connection, secrets, shiftedClock{s.clock, at}, func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			tamper(r)
			return next.RoundTrip(r)
		})
	})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, r := range s.requests {
		if err := wantStatus(r.name+" "+what, r.make(ctx, client), http.StatusUnauthorized); err != nil {
			return err
		}
	}
	return nil
}

func orError[T any](_ T, err error) error { return err }

func (s signing) checkUnsigned(ctx context.Context) error {
	err := s.refusesAll(ctx, "without a signature", testSecrets{s.secrets}, 0,
		func(r *http.Request) { r.Header.Del(signedmessage.SignatureHeader) })
	if err != nil {
		return err
	}
	return s.refusesAll(ctx, "signed with another secret", testSecrets{newSecrets()}, 0, func(*http.Request) {})
}

func (s signing) checkChanged(ctx context.Context) error {
	return s.refusesAll(ctx, "that was changed after it was signed", testSecrets{s.secrets}, 0, func(r *http.Request) {
		if r.Method == http.MethodGet {
			r.URL.RawQuery = "changed=1"
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // then the request fails
		}
		body = append(body, ' ')
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	})
}

func (s signing) checkOld(ctx context.Context) error {
	return s.refusesAll(ctx, "that was signed an hour ago", testSecrets{s.secrets}, -time.Hour, func(*http.Request) {})
}

func (s signing) checkTwoSecrets(ctx context.Context) error {
	client, err := partner.OpenClient(s.connection, testSecrets{append(newSecrets(), s.secrets...)}, s.clock, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Health(ctx)
	return err
}

func newSecrets() signedmessage.Secrets {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return signedmessage.Secrets{key}
}

// testSecrets returns its secrets for every reference.
type testSecrets struct{ secrets signedmessage.Secrets }

// Secret implements ports.Secrets.
func (s testSecrets) Secret(context.Context, string) ([]byte, error) {
	var text []byte
	for _, key := range s.secrets {
		text = append(text, "whsec_"+base64.StdEncoding.EncodeToString(key)+"\n"...)
	}
	return text, nil
}

// shiftedClock is another clock by a time.
type shiftedClock struct {
	clock interface{ Now() time.Time }
	by    time.Duration
}

// Now implements ports.Clock.
func (c shiftedClock) Now() time.Time { return c.clock.Now().Add(c.by) }

func (s *Suite) checkUnknown(ctx context.Context) error {
	for _, k := range s.Kinds {
		p := s.newPayment(k, 0)
		p.ID = uuid.NewString()
		_, err := s.client.Payment(ctx, p, false)
		if err := wantStatus("GET "+k.Path()+"/{id}", err, http.StatusNotFound); err != nil {
			return err
		}
	}
	return nil
}
