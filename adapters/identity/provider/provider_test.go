package provider_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/identity/provider"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/verification"
	"causeway/ports"
	"causeway/ports/portstest"
)

const token = "a-token-that-is-long-enough"

// fixedClock is a clock that stands still.
type fixedClock time.Time

func (c fixedClock) Now() time.Time { return time.Time(c) }

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// memoryFiles are files by their names, without encryption.
type memoryFiles map[string][]byte

func (memoryFiles) Put(context.Context, string, io.Reader, int64) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

func (f memoryFiles) Open(_ context.Context, name string, _ []byte) (io.ReadCloser, error) {
	content, ok := f[name]
	if !ok {
		return nil, ports.ErrNoBlob
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (memoryFiles) Delete(context.Context, string) error { return errors.ErrUnsupported }

// newIdentity returns an Identity whose provider is handler.
func newIdentity(t *testing.T, files ports.Files, handler http.HandlerFunc) *provider.Identity {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	identity, err := provider.New(provider.Config{URL: server.URL + "/v1/", Token: token,
		CallbackURL: "https://pay.example.com/identity/decisions",
		Files:       files, Clock: fixedClock(now), PollInterval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(identity.Close)
	return identity
}

// answer writes a state.
func answer(w http.ResponseWriter, s provider.State) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s)
}

// applicationID returns the id in the path of a request.
func applicationID(r *http.Request) string { return r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] }

func TestIdentity_Conformance(t *testing.T) {
	t.Parallel()
	// A provider that decides at once, and one that has not decided, pass the suite of the port.
	for status, errs := range map[string][]provider.CheckError{"IN_PROGRESS": nil, "PENDING_MANUAL_REVIEW": nil,
		"APPROVED": nil, "REJECTED": nil} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			portstest.Identity(t, newIdentity(t, nil, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w, provider.State{ID: applicationID(r), Status: status, Errors: errs})
			}))
		})
	}
}

func TestIdentity_SubmitSendsDataAndFiles(t *testing.T) {
	t.Parallel()
	// A submission is one request with the token, the data of the business and its owners, and the files
	// behind it. Its path has the id of the application and nothing else.
	a := portstest.IdentityApplications()[1]
	documents, files := newDocuments(a, []byte("first file"), bytes.Repeat([]byte("x"), 200_000))
	identity := newIdentity(t, files, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || r.URL.String() != "/v1/applications/"+a.ID.String() || r.Header.Get("Authorization") != "Bearer "+
			token || r.ContentLength <= 200_000 {
			t.Errorf("%s %s with %q, %d bytes", r.Method, r.URL, r.Header.Get("Authorization"), r.ContentLength)
		}
		parts, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		first, err := parts.NextPart()
		if err != nil || first.FormName() != "application" || first.Header.Get("Content-Type") != "application/json" {
			t.Errorf("the first part: %v, %v", first, err)
			return
		}
		var sent provider.Application
		if err := json.NewDecoder(first).Decode(&sent); err != nil {
			t.Error(err)
		}
		if sent.ID != a.ID.String() || sent.SubjectID != a.Verification.String() || sent.PlatformID != a.Platform.String() || sent.Owner != nil ||
			sent.CallbackURL != "https://pay.example.com/identity/decisions" || sent.Customer.Business.TaxID != "12-3456789" ||
			sent.Customer.Owners[0].Person.Identifier != "123-45-6789" {
			t.Errorf("sent %+v", sent)
		}
		var received []provider.ReceivedDocument
		for i, d := range documents {
			part, err := parts.NextPart()
			if err != nil {
				t.Errorf("part of %s: %v", d.ID, err)
				return
			}
			content, err := io.ReadAll(part)
			sum := sha256.Sum256(content)
			if err != nil || part.FormName() != sent.Documents[i].ID || part.Header.Get("Content-Type") != "application/pdf" ||
				hex.EncodeToString(sum[:]) != sent.Documents[i].SHA256 {
				t.Errorf("file of %s: %d bytes, %v, %v", part.FormName(), len(content), part.Header, err)
			}
			received = append(received, provider.ReceivedDocument{ID: part.FormName(), SHA256: hex.EncodeToString(sum[:])})
		}
		answer(w, provider.State{ID: a.ID.String(), Status: "IN_PROGRESS", Documents: received})
	})

	outcome, err := identity.Submit(t.Context(), a, documents)

	if err != nil || outcome.Verdict != verification.Waiting || !outcome.RetryAt.Equal(now.Add(time.Minute)) {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// newDocuments returns documents of a customer with files.
func newDocuments(a verification.Application, contents ...[]byte) (documents []document.Document, files memoryFiles) {
	files = memoryFiles{}
	for _, content := range contents {
		d := document.Document{ID: ident.NewDocument(func(time.Time) uuid.UUID { return uuid.New() }, now), Platform: a.Platform,
			Holder:  document.Holder{Customer: a.Customer.ID},
			Details: document.Details{Type: "UTILITY_BILL", Country: "US"}, File: document.File{ContentType: document.PDF, Size: int64(len(content)),
				SHA256: sha256.Sum256(content), Blob: uuid.New()}}
		files[document.BlobName(a.Platform, d.File.Blob)] = content
		documents = append(documents, d)
	}
	return documents, files
}

func TestIdentity_BadResponseIsAnError(t *testing.T) {
	t.Parallel()
	// Whatever a provider answers that the contract does not have is an error, to be asked for again, and
	// the error repeats nothing of the response.
	a := portstest.IdentityApplications()[0]
	documents, files := newDocuments(a, []byte("file"))
	var redirected sync.Once
	followed := false
	for name, handler := range map[string]http.HandlerFunc{
		"status": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Ana Ng is wrong", http.StatusUnprocessableEntity)
		},
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"empty":      func(http.ResponseWriter, *http.Request) {},
		"text":       func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Ana Ng") },
		"array":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "[]") },
		"null":       func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "null") },
		"number":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id": 7}`) },
		"more": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"id": "`+applicationID(r)+`", "status": "APPROVED"} Ana Ng`)
		},
		"another": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, provider.State{ID: uuid.NewString(), Status: "APPROVED"})
		},
		"unknown state": func(w http.ResponseWriter, r *http.Request) {
			answer(w, provider.State{ID: applicationID(r), Status: "FINE"})
		},
		"no errors": func(w http.ResponseWriter, r *http.Request) {
			answer(w, provider.State{ID: applicationID(r), Status: "RESOLVE_ERRORS"})
		},
		"no documents": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			answer(w, provider.State{ID: applicationID(r), Status: "APPROVED"})
		},
		"large": func(w http.ResponseWriter, r *http.Request) {
			answer(w, provider.State{ID: applicationID(r), Status: "APPROVED", Reason: strings.Repeat("x", 70_000)})
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/elsewhere") {
				redirected.Do(func() { followed = true })
			}
			http.Redirect(w, r, "/elsewhere/"+applicationID(r), http.StatusTemporaryRedirect)
		},
		"closed": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		identity := newIdentity(t, files, handler)
		for operation, call := range map[string]func() (verification.Outcome, error){
			"submit": func() (verification.Outcome, error) { return identity.Submit(t.Context(), a, documents) },
			"status": func() (verification.Outcome, error) { return identity.Status(t.Context(), a) },
		} {
			if operation == "status" && name == "no documents" {
				continue
			}
			if outcome, err := call(); err == nil || strings.Contains(err.Error(), "Ana") || outcome.Verdict != "" {
				t.Errorf("%s, %s: %+v, %v", name, operation, outcome, err)
			}
		}
	}
	if followed {
		t.Error("a redirect was followed")
	}
}

func TestIdentity_SilentProvider(t *testing.T) {
	t.Parallel()
	// A call ends when its context does, though the provider says nothing; one that cannot be reached is
	// an error; and an application that it does not know is to be submitted again.
	a := portstest.IdentityApplications()[0]
	called, release := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(release) })
	silent := newIdentity(t, nil, func(_ http.ResponseWriter, r *http.Request) {
		called <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-called; cancel() }()
	if _, err := silent.Status(ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("silent: %v", err)
	}

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	unreachable, err := provider.New(provider.Config{URL: gone.URL, Token: token, Clock: fixedClock(now), PollInterval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unreachable.Submit(t.Context(), a, nil); err == nil {
		t.Error("a provider that is not there answered")
	}

	forgetful := newIdentity(t, nil, http.NotFound)
	if _, err := forgetful.Status(t.Context(), a); !errors.Is(err, ports.ErrUnknownApplication) {
		t.Errorf("status of an unknown application: %v", err)
	}
	if _, err := forgetful.Submit(t.Context(), a, nil); err == nil || errors.Is(err, ports.ErrUnknownApplication) {
		t.Errorf("submission to a wrong path: %v", err)
	}
}

func TestIdentity_MissingFileIsAnError(t *testing.T) {
	t.Parallel()
	// A submission is not complete without each of its files.
	a := portstest.IdentityApplications()[0]
	documents, files := newDocuments(a, []byte("first"), []byte("second"))
	delete(files, document.BlobName(a.Platform, documents[1].File.Blob))
	identity := newIdentity(t, files, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			t.Error("the body is complete")
		}
		answer(w, provider.State{ID: a.ID.String(), Status: "APPROVED"})
	})
	if _, err := identity.Submit(t.Context(), a, documents); !errors.Is(err, ports.ErrNoBlob) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := newIdentity(t, nil, http.NotFound).Submit(t.Context(), a, documents); err == nil ||
		!strings.Contains(err.Error(), "CAUSEWAY_BLOBS") {
		t.Errorf("no place for files: %v", err)
	}
}

func TestIdentity_AsksLessAndLessOften(t *testing.T) {
	t.Parallel()
	// An undecided application is asked for again after the interval, later after a quarter of its age, and
	// at least every hour.
	for age, want := range map[time.Duration]time.Duration{0: time.Minute, 2 * time.Minute: time.Minute, 40 * time.Minute: 10 * time.Minute,
		72 * time.Hour: time.Hour} {
		a := portstest.IdentityApplications()[0]
		a.SubmittedAt = now.Add(-age)
		outcome, err := newIdentity(t, nil, func(w http.ResponseWriter, r *http.Request) {
			answer(w, provider.State{ID: applicationID(r), Status: "PENDING_MANUAL_REVIEW"})
		}).Status(t.Context(), a)
		if got := outcome.RetryAt.Sub(now); err != nil || got != want {
			t.Errorf("after %s: in %s, %v; want %s", age, got, err, want)
		}
	}
}

func TestNew_ChecksAddressAndToken(t *testing.T) {
	t.Parallel()
	// Data goes over https, and over http to this machine only.
	for url, valid := range map[string]bool{
		"https://identity.example.com/v1": true, "http://127.0.0.1:9000": true, "http://localhost:9000/": true, "http://[::1]:9000": true,
		"http://identity.example.com": false, "http://127.0.0.1.example.com": false, "ftp://identity.example.com": false,
		"https://u:p@identity.example.com":   false,
		"https://identity.example.com?key=1": false, "https://identity.example.com/#a": false, "identity.example.com": false,
		"": false, "::": false,
	} {
		if _, err := provider.New(provider.Config{URL: url, Token: token, PollInterval: time.Minute}); (err == nil) != valid {
			t.Errorf("%q: %v, want valid %v", url, err, valid)
		}
	}
	for _, bad := range []string{"", "short", "with a space in the middle", "with\nnew line and more"} {
		if _, err := provider.New(provider.Config{URL: "https://identity.example.com", Token: bad, PollInterval: time.Minute}); err == nil {
			t.Errorf("the token %q was accepted", bad)
		}
	}
}
