package apiclient

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LoggedRequest is an entry of the log of requests.
type LoggedRequest struct {
	ID             string
	At             time.Time
	DurationMs     int64
	Method         string
	Path, Query    string
	OperationID    string
	Status         int
	Code, Message  string
	RequestID      string
	IdempotencyKey string
	Replayed       bool
	TokenID        string
	AgentID        string
	LostBefore     int64

	Request, Response LoggedContent
}

// LoggedContent is what was sent in one direction.
type LoggedContent struct {
	ContentType string
	Size        int64
	Body        json.RawMessage // masked; nil if it is not kept
	Cut         bool
}

// Target returns the path with the query.
func (r LoggedRequest) Target() string {
	if r.Query == "" {
		return r.Path
	}
	return r.Path + "?" + r.Query
}

// Caller returns the id of the token or the agent.
func (r LoggedRequest) Caller() string { return r.TokenID + r.AgentID }

// LoggedRequest returns an entry of the log of requests with its bodies.
func (c *Client) LoggedRequest(ctx context.Context, id string) (r LoggedRequest, err error) {
	return r, c.Call(ctx, http.MethodGet, "/request-logs/"+url.PathEscape(id), nil, &r)
}

// LoggedRequests returns entries of the log of requests, the last written first, and whether there are more. filter has the
// parameters of the operation.
func (c *Client) LoggedRequests(ctx context.Context, filter url.Values, limit int) (found []LoggedRequest, more bool, err error) {
	_, err = c.loggedPages(ctx, filter, min(limit, maxPage), func(page []LoggedRequest, hasMore bool) bool {
		found = append(found, page...)
		more = hasMore || len(found) > limit
		return len(found) < limit
	})
	return found[:min(len(found), limit)], more, err
}

const maxPage = 100

// loggedPages calls each with the pages of the log until it returns false, and returns the service's time of the first one.
func (c *Client) loggedPages(ctx context.Context, filter url.Values, limit int, each func(page []LoggedRequest, more bool) bool) (
	at time.Time, err error) {
	query := maps.Clone(filter)
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(limit))
	for {
		response, err := c.Do(ctx, Request{Method: http.MethodGet, Path: "/request-logs?" + query.Encode()})
		if err == nil {
			err = response.Err(http.MethodGet, "/request-logs")
		}
		if err != nil {
			return at, err
		}
		var page struct {
			Data       []LoggedRequest
			HasMore    bool
			NextCursor string
		}
		if err := json.Unmarshal(response.Body, &page); err != nil {
			return at, fmt.Errorf("the list of request logs: %w", err)
		}
		if at.IsZero() {
			if at, err = http.ParseTime(response.Header.Get("Date")); err != nil {
				return at, fmt.Errorf("the list of request logs has no Date header: %w", err)
			}
		}
		if !each(page.Data, page.HasMore) || !page.HasMore {
			return at, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

const (
	// tailOverlap is how far back each poll reads again: no entry is visible later than so long after its id was made.
	tailOverlap = 15 * time.Second
	// maxTailed bounds the entries that one poll returns.
	maxTailed = 5000
)

// LogTail reads the entries of the log of requests as they are written. Each is returned once, also if the service restarts
// meanwhile.
type LogTail struct {
	Client *Client
	// Filter has parameters of the operation that lists them.
	Filter url.Values

	returned map[string]time.Time // when the entries of the overlap were written, by id
	started  time.Time
	latest   time.Time // the service's time of the last complete poll
}

// Start makes Poll return what is written from now on. The error is final: the token may not read the log.
func (t *LogTail) Start(ctx context.Context) (err error) {
	t.returned = map[string]time.Time{}
	t.started, err = t.Client.loggedPages(ctx, t.Filter, 1, func([]LoggedRequest, bool) bool { return false })
	t.latest = t.started
	return err
}

// Poll calls each with the entries since the last poll, the oldest first. It returns whether there were more than it reads at once,
// of which the oldest are left out.
func (t *LogTail) Poll(ctx context.Context, each func(LoggedRequest) error) (leftOut bool, err error) {
	var found []LoggedRequest
	at, err := t.Client.loggedPages(ctx, t.Filter, maxPage, func(page []LoggedRequest, more bool) bool {
		old := false
		for _, r := range page {
			written := writtenAt(r.ID)
			if old = written.Before(t.latest.Add(-tailOverlap)); old {
				break
			}
			if _, returned := t.returned[r.ID]; !returned && !written.Before(t.started) {
				found = append(found, r)
			}
		}
		leftOut = more && !old && len(found) >= maxTailed
		return !old && !leftOut
	})
	if err != nil {
		return false, err
	}
	for _, r := range slices.Backward(found) {
		if err := each(r); err != nil {
			return false, err
		}
		t.returned[r.ID] = writtenAt(r.ID)
	}
	t.latest = at
	maps.DeleteFunc(t.returned, func(_ string, written time.Time) bool { return written.Before(at.Add(-2 * tailOverlap)) })
	return leftOut, nil
}

// writtenAt returns when an entry was written, which its id (a UUIDv7) begins with.
func writtenAt(id string) time.Time {
	_, text, _ := strings.Cut(id, ":")
	digits, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(digits) < 6 {
		return time.Time{}
	}
	var millis int64
	for _, b := range digits[:6] {
		millis = millis<<8 | int64(b)
	}
	return time.UnixMilli(millis).UTC()
}
