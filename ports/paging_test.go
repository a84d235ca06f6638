package ports_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

func TestAll_ReadsEveryPage(t *testing.T) {
	t.Parallel()
	// A list is read page by page, to its end or until the caller has enough. An error of a page comes after the items before it.
	ids := []uuid.UUID{{1}, {2}, {3}, {4}, {5}}
	var reads int
	failed := errors.New("no database")
	list := func(failing int) func(ports.Paging) (ports.Page[uuid.UUID], error) {
		reads = 0
		return func(p ports.Paging) (ports.Page[uuid.UUID], error) {
			if reads++; reads == failing {
				return ports.Page[uuid.UUID]{}, failed
			}
			from := slices.Index(ids, p.After) + 1
			to := min(from+p.Limit, len(ids))
			return ports.Page[uuid.UUID]{Items: ids[from:to], More: to < len(ids)}, nil
		}
	}
	same := func(id uuid.UUID) uuid.UUID { return id }
	for name, c := range map[string]struct {
		failing, atMost, items, reads int
		err                           error
	}{
		"all":             {0, 9, 5, 3, nil},
		"the first three": {0, 3, 3, 2, nil},
		"an error":        {2, 9, 2, 2, failed},
	} {
		var got []uuid.UUID
		var err error
		for id, failed := range ports.All(ports.Paging{Limit: 2}, list(c.failing), same) {
			if err = failed; err != nil {
				continue
			}
			if got = append(got, id); len(got) == c.atMost {
				break
			}
		}
		if !slices.Equal(got, ids[:c.items]) || reads != c.reads || !errors.Is(err, c.err) {
			t.Errorf("%s: %v with %d reads, %v", name, got, reads, err)
		}
	}
}

// manyPlatforms has platforms with the ids 1 and so on.
type manyPlatforms int

func (n manyPlatforms) Platforms(_ context.Context, after ident.Platform, limit int) (found []platform.Platform, err error) {
	id := after.UUID()
	for i := int(id[14])<<8 + int(id[15]) + 1; i <= int(n) && len(found) < limit; i++ {
		var p platform.Platform
		p.ID.SetUUID(uuid.UUID{14: byte(i >> 8), 15: byte(i)})
		found = append(found, p)
	}
	return found, nil
}

func TestAllPlatforms_ReadsEach(t *testing.T) {
	t.Parallel()
	// Each platform is returned once, in order of creation, however many there are.
	for _, n := range []int{0, 1, 499, 500, 501, 1200} {
		var got []string
		for p, err := range ports.AllPlatforms(t.Context(), manyPlatforms(n)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.ID.String())
		}
		if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(got)) != n {
			t.Errorf("%d of %d", len(got), n)
		}
	}
}
