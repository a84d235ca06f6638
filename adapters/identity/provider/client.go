package provider

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/core/document"
	"causeway/core/verification"
	"causeway/ports"
)

// maxBody is the maximum size of a response or a message of the provider, in bytes.
const maxBody = 64 << 10

// send makes one request about an application, and decodes the response.
func (i *Identity) send(ctx context.Context, operation, method string, a verification.Application, body *form, answer *State) error {
	text, err := i.exchange(ctx, operation, method, "applications", a.ID, body)
	if status := StatusError(0); operation == "status" && errors.As(err, &status) && status == http.StatusNotFound {
		return ports.ErrUnknownApplication
	}
	if err != nil {
		return err
	}
	if err := decodeState(text, answer); err != nil {
		return err
	}
	if answer.ID != a.ID.String() {
		return errors.New("the response is about another application")
	}
	return nil
}

// exchange makes one request about a resource, and returns the body of the response.
func (i *Identity) exchange(ctx context.Context, operation, method, resource string, id uuid.UUID, body *form) (text []byte, err error) {
	started := time.Now()
	defer func() {
		if err != nil {
			err = fmt.Errorf("identity provider: %s %s: %w", operation, id, err)
		}
		if i.Metrics != nil {
			i.Metrics.Requested(operation, err, time.Since(started))
		}
	}()
	request, err := http.NewRequestWithContext(ctx, method, i.base.JoinPath(resource, id.String()).String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+i.Token)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "causeway")
	if body != nil {
		request.Body, request.ContentLength = body, body.size
		request.Header.Set("Content-Type", body.contentType)
	}
	// A http.Client would follow redirects and keep cookies; the transport does not.
	response, err := i.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
		return readBounded(response.Body)
	default:
		// The body may repeat personal data, so it is not read.
		return nil, StatusError(response.StatusCode)
	}
}

// StatusError is the status of a response that is an error.
type StatusError int

// Error implements error.
func (e StatusError) Error() string { return fmt.Sprintf("the response has the status %d", int(e)) }

var errTooLarge = fmt.Errorf("the body has more than %d bytes", maxBody)

func readBounded(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err == nil && len(text) > maxBody {
		err = errTooLarge
	}
	return text, err
}

// decodeState decodes a JSON object. Its error has nothing of the text, which may be personal data.
func decodeState(text []byte, into any) error {
	if json.Unmarshal(text, into) != nil || len(bytes.TrimSpace(text)) == 0 || bytes.TrimSpace(text)[0] != '{' {
		return errors.New("the body is not a JSON object with the documented fields")
	}
	return nil
}

// checkReceived returns an error unless the provider has received every file as it was sent.
func checkReceived(sent []document.Document, received []ReceivedDocument) error {
	known := map[string]bool{}
	for _, r := range received {
		known[r.SHA256] = true
	}
	for _, d := range sent {
		if !known[hex.EncodeToString(d.File.SHA256[:])] {
			return fmt.Errorf("identity provider: the response lists no document with the SHA-256 of %s", d.ID)
		}
	}
	return nil
}
