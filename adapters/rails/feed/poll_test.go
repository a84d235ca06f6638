package feed_test

import (
	"context"
	"errors"
	"testing"

	"causeway/adapters/rails/feed"
	"causeway/ports"
)

func TestPoll_ReturnsWhatWasFoundBeforeAFailure(t *testing.T) {
	t.Parallel()
	// A piece has the events after the cursor and ends with the number of the last one. A failure is returned when nothing is left.
	kept := []int64{2, 3, 7}
	read := func(_ context.Context, _ string, after int64, limit int) (events []int64, _ error) {
		for _, e := range kept {
			if e > after && len(events) < limit {
				events = append(events, e)
			}
		}
		return events, nil
	}
	add := func(report *ports.RailReport, e int64) int64 {
		report.Changed = append(report.Changed, ports.RailSubject{})
		return e
	}
	failure := errors.New("no answer")
	for name, c := range map[string]struct {
		cursor string
		more   bool
		fails  error

		want     string
		events   int
		wantMore bool
		err      error
	}{
		"the first piece is full":          {"", false, nil, "3", 2, true, nil},
		"the rest":                         {"3", false, nil, "7", 1, false, nil},
		"there is more to do":              {"3", true, nil, "7", 1, true, nil},
		"nothing":                          {"7", false, nil, "7", 0, false, nil},
		"a failure with something to say":  {"3", true, failure, "7", 1, false, nil},
		"a failure with nothing left":      {"7", true, failure, "", 0, false, failure},
		"a failure before the first piece": {"", false, failure, "3", 2, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := func(context.Context) (bool, error) { return c.more, c.fails }
			got, err := feed.Poll(t.Context(), "a", c.cursor, 2, work, read, add)
			if !errors.Is(err, c.err) || got.Cursor != c.want || len(got.Changed) != c.events || got.More != c.wantMore {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	for _, cursor := range []string{"x", "-1", "1:2"} {
		if _, err := feed.Poll(t.Context(), "a", cursor, 2, func(context.Context) (bool, error) {
			t.Error("worked without knowing from where on to report")
			return false, nil
		}, read, add); err == nil {
			t.Errorf("%q is taken for a cursor", cursor)
		}
	}
}
