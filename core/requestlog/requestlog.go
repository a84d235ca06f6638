// Package requestlog defines the entries of the log of API requests, and what of a request they show: values whose form identifies
// nobody, such as amounts, ids and statuses. All others are masked.
package requestlog

import (
	"bytes"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
)

// Entry is one request of a platform and what was answered. It has no value of Rule that is masked.
type Entry struct {
	ID       ident.RequestLog // in the order in which entries are written
	Platform ident.Platform
	Token    ident.Token // zero for an agent
	Agent    ident.Agent // zero for a token

	ArrivedAt time.Time
	Duration  time.Duration
	Method    string
	Operation string // id of the operation; empty if there is none
	Route     string // pattern of the path; empty if there is none
	Path      string
	Query     string

	Status         int
	Code, Message  string // of an error
	RequestID      uuid.UUID
	IdempotencyKey string
	Replayed       bool // the response was saved before
	// Subject is the id of what the request has made or changed; zero if that is not known, and for one that reads.
	Subject uuid.UUID

	Request, Response Content

	// LostBefore is how many requests of the platform came before this one and are not in the log, since the entry before.
	LostBefore int64
}

// Content is what was sent in one direction.
type Content struct {
	Type string // media type; empty without a body
	Size int64  // bytes; 0 if not known
	Body string // masked JSON; empty if it is not kept
	Cut  bool   // Body is not whole
}

// Bytes returns about how much memory the texts of the entry take.
func (e *Entry) Bytes() int {
	const fixed = 512
	return fixed + len(e.Path) + len(e.Query) + len(e.Message) + len(e.Request.Body) + len(e.Response.Body)
}

// Bodies says of which requests the bodies are kept.
type Bodies string

const (
	NoBodies     Bodies = "none"
	FailedBodies Bodies = "failed" // and all of sandbox platforms
	AllBodies    Bodies = "all"
)

// Keep reports whether the bodies of a request are kept.
func (b Bodies) Keep(of platform.Environment, status int) bool {
	switch b {
	case AllBodies:
		return true
	case FailedBodies:
		return of == platform.Sandbox || status >= 400
	default:
		return false
	}
}

// StatusRange is a range of statuses, both ends included.
type StatusRange struct{ From, To int }

// PathPrefixes returns the beginning of a path with and without the version, whose paths begin with base.
func PathPrefixes(base, prefix string) []string {
	if prefix == "" {
		return nil
	}
	if strings.HasPrefix(prefix, base) {
		return []string{prefix}
	}
	return []string{base + prefix, prefix}
}

// SubjectOf returns the id of what a request makes or changes: the first one in its path or else the one that its response begins with.
func SubjectOf(path string, response []byte) uuid.UUID {
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain // clients may escape the colon
		}
		if IsID([]byte(segment)) {
			return uuidOf([]byte(segment))
		}
	}
	if rest, has := bytes.CutPrefix(response, []byte(`{"id":"`)); has {
		if id, _, _ := bytes.Cut(rest[:min(len(rest), 80)], []byte{'"'}); IsID(id) {
			return uuidOf(id)
		}
	}
	return uuid.Nil
}

func uuidOf(id []byte) uuid.UUID {
	_, text, _ := bytes.Cut(id, []byte{':'})
	parsed, _ := uuid.ParseBytes(text) // it has the form of one
	return parsed
}
