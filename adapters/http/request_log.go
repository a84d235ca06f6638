package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/platform"
	"causeway/core/requestlog"
)

// RequestLog takes the entries of the log of requests.
type RequestLog interface {
	// Record takes an entry. It does not block.
	Record(entry requestlog.Entry)
	// KeepsBodies reports whether the bodies of a request of an environment with a status are kept.
	KeepsBodies(of platform.Environment, status int) bool
}

const (
	// maxLoggedBody is about how many bytes of a masked body are kept.
	maxLoggedBody = 16 << 10
	// maxLoggedText is how many bytes of a path, a query, a message or a media type are kept.
	maxLoggedText = 2000
	// identifyTimeout bounds the search for the caller of a request that was refused before its authentication.
	identifyTimeout = 2 * time.Second
)

// errorTexts are the names of texts in the body of an error. They are shown without the values of the request that are masked.
var errorTexts = map[string]bool{"message": true, "reason": true, "field": true}

// record adds the request to the log of requests, if a token of a platform or an agent made it. It runs after the response was
// sent.
func (x *exchange) record() {
	log := x.api.config.RequestLog
	if log == nil || x.route != nil && (x.route.op == nil || x.route.public || x.route.unlogged) {
		return
	}
	arrivedAt, duration := x.started.UTC(), time.Since(x.started)
	caller := x.caller()
	if caller.Platform.IsZero() {
		return
	}
	entry := requestlog.Entry{
		Platform: caller.Platform, Token: caller.Token, Agent: caller.Agent, ArrivedAt: arrivedAt, Duration: duration,
		Method: knownMethod(x.r.Method), Status: x.status, Replayed: x.replayed, RequestID: uuid.MustParse(x.requestID),
		Path: bounded(x.maskedPath()), Query: bounded(x.maskedQuery()),
	}
	if rt := x.route; rt != nil {
		entry.Operation, entry.Route = rt.op.OperationID, rt.pattern
	}
	if keys := x.r.Header["Idempotency-Key"]; len(keys) == 1 && isValidKey(keys[0]) {
		entry.IdempotencyKey = keys[0]
	}
	x.recordContents(&entry, log.KeepsBodies(caller.Environment, x.status))
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		var made []byte
		if x.response != nil && x.status < http.StatusMultipleChoices {
			made = x.response.Bytes()
		}
		entry.Subject = requestlog.SubjectOf(entry.Path, made)
	}
	log.Record(entry)
}

// caller returns who made the request, also if it was refused before its authentication. It is zero if nobody is known to have.
func (x *exchange) caller() platform.Principal {
	switch {
	case !x.call.Principal.Platform.IsZero():
		return x.call.Principal
	case x.ctx.Context != nil: // its authentication has failed
		return x.refused
	case len(x.r.Header["Authorization"]) == 0:
		return platform.Principal{}
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), identifyTimeout)
	defer cancel()
	x.ctx = requestContext{Context: ctx, x: x}
	principal, err := x.authenticate()
	if err != nil {
		return x.refused
	}
	if _, wait := x.api.callerLimiters.take(principal, x.started); wait > 0 {
		return platform.Principal{} // what is refused for free must not fill the log
	}
	return principal
}

// noteRefused keeps which token was refused, if it is known.
func (x *exchange) noteRefused(err error) {
	if refused := new(platform.RefusedError); errors.As(err, &refused) {
		x.refused = refused.Principal
	}
}

// recordContents sets the bodies of an entry, and what was wrong.
func (x *exchange) recordContents(entry *requestlog.Entry, keepBodies bool) {
	failed := x.status >= http.StatusBadRequest
	var hidden *requestlog.Hidden
	if failed {
		hidden = new(requestlog.Hidden)
		x.hideParameters(hidden)
	}
	entry.Request = requestlog.Content{Type: mediaType(x.r.Header.Get("Content-Type")), Size: max(x.r.ContentLength, 0)}
	switch {
	case x.body != nil && x.route.upload == nil:
		entry.Request.Size = int64(x.body.Len())
		if keepBodies || failed {
			x.maskBody(&entry.Request, x.body.Bytes(), maskOptions{limit: maxLoggedBody, hideIn: hidden})
		}
	case x.route != nil && x.route.upload != nil && failed:
		hidden.AddUnlisted()
	}
	if x.response != nil && x.response.Len() > 0 {
		body := x.response.Bytes()
		entry.Response = requestlog.Content{Type: mediaType(x.w.Header().Get("Content-Type")), Size: int64(len(body))}
		if failed {
			var said struct{ Code, Message string }
			_ = json.Unmarshal(body, &said) // of an answer without them, both are empty
			entry.Code, entry.Message = said.Code, bounded(hidden.Scrub(said.Message))
		}
		if keepBodies {
			options := maskOptions{limit: maxLoggedBody}
			if failed {
				options.texts, options.hidden = errorTexts, hidden
			}
			x.maskBody(&entry.Response, body, options)
		}
	} else if kind := x.w.Header().Get("Content-Type"); kind != "" { // a file
		entry.Response.Type = mediaType(kind)
	}
	if !keepBodies {
		entry.Request.Body, entry.Request.Cut = "", false
	}
}

// maskBody sets the masked body, if it is JSON.
func (x *exchange) maskBody(of *requestlog.Content, body []byte, o maskOptions) {
	of.Body, of.Cut, _ = maskJSON(x.api.document.logRule, body, o)
}

// maskedPath returns the path with what the rule does not show masked. Of a path that is none of the API, only what resembles its
// paths is shown.
func (x *exchange) maskedPath() string {
	shown := segments(x.r.URL.EscapedPath())
	for i, segment := range shown {
		if !x.showsSegment(i, segment) {
			shown[i] = requestlog.Masked
		}
	}
	return "/" + strings.Join(shown, "/")
}

// showsSegment reports whether a segment of the path is shown.
func (x *exchange) showsSegment(i int, segment string) bool {
	if x.item == nil {
		literals := x.api.router.literals
		return segment == "" || slices.Contains(literals, segment) || requestlog.IsID([]byte(segment)) ||
			len(segment) <= 40 && mostSimilar(segment, slices.Values(literals)) != ""
	}
	if i >= len(x.item.segments) {
		return segment == "" // of a trailing slash
	}
	name, isParam := parseParameter(x.item.segments[i])
	return !isParam || x.showsParameter(name, segment)
}

// maskedQuery returns the query with what the rule does not show masked.
func (x *exchange) maskedQuery() string {
	if x.r.URL.RawQuery == "" {
		return ""
	}
	pairs := strings.Split(x.r.URL.RawQuery, "&")
	for i, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if !x.api.document.logRule.HasName(name) {
			name = requestlog.Masked
		}
		pairs[i] = name
		if !found {
			continue
		}
		if !x.showsParameter(name, value) {
			value = requestlog.Masked
		}
		pairs[i] += "=" + value
	}
	return strings.Join(pairs, "&")
}

// showsParameter reports whether the escaped value of a parameter is shown.
func (x *exchange) showsParameter(name, escaped string) bool {
	value, err := url.QueryUnescape(escaped)
	return err == nil && x.api.document.logRule.ShowsParameter(name, value)
}

// hideParameters adds the values of the URL that are masked.
func (x *exchange) hideParameters(hidden *requestlog.Hidden) {
	rule := x.api.document.logRule
	for i, segment := range segments(x.r.URL.EscapedPath()) {
		if !x.showsSegment(i, segment) {
			plain, _ := url.PathUnescape(segment) // empty if it is invalid, which no message repeats
			hidden.Add(plain)
		}
	}
	for name, values := range x.r.URL.Query() {
		if !rule.HasName(name) {
			hidden.Add(name)
		}
		for _, value := range values {
			if !rule.ShowsParameter(name, value) {
				hidden.Add(value)
			}
		}
	}
}

// mediaType returns the media type of a Content-Type without its parameters.
func mediaType(contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "":
		return ""
	case err != nil || len(kind) > 100:
		return requestlog.Masked
	}
	return kind
}

// bounded returns a text as it can be stored: cut if it is too long.
func bounded(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if len(text) <= maxLoggedText {
		return text
	}
	return strings.ToValidUTF8(text[:maxLoggedText], "") + "…"
}
