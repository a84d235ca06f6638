package books_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"causeway/app/internal/apptest"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/ports"
)

// renamed returns the lines of the built-in mapping with another code for customers.
func renamed(code string) []books.MappingLine {
	lines := books.DefaultMapping().Lines()
	for i := range lines {
		if lines[i].Path == "customers/*" {
			lines[i].GLAccount = books.GLAccount{Code: code, Name: "Customers"}
		}
	}
	return lines
}

func TestService_SetGLMapping(t *testing.T) {
	t.Parallel()
	// A platform begins with the built-in mapping, which is version 0. Every change is a version that stays
	// readable, also as of a moment, and must be made from the present one.
	env := newEnv(t)
	p := env.Platform.ID
	if first, err := env.books.GLMapping(t.Context(), p, nil); err != nil || first.Version != 0 || !first.Equal(books.DefaultMapping()) {
		t.Fatalf("at first %+v, %v", first, err)
	}

	one, err := done(env.books.SetGLMapping(t.Context(), p, env.change("New codes"), 0, renamed("C-1")))
	if err != nil || one.Version != 1 || one.Resolve("customers/x", "USD").Code != "C-1" {
		t.Fatalf("set %+v, %v", one, err)
	}
	if same, err := done(env.books.SetGLMapping(t.Context(), p, env.change("again"), 1, renamed("C-1"))); err != nil || same.Version != 1 {
		t.Errorf("the same lines: version %d, %v", same.Version, err)
	}
	two, err := done(env.books.SetGLMapping(t.Context(), p, env.change(""), 1, renamed("C-2")))
	if err != nil || two.Version != 2 || !two.At.After(one.At) {
		t.Fatalf("set again %+v, %v", two, err)
	}

	_, err = done(env.books.SetGLMapping(t.Context(), p, env.change(""), 1, renamed("C-3")))
	apptest.WantFault(t, "from a former version", err, fault.Conflict)
	for version, code := range []string{"2000", "C-1", "C-2"} {
		found, err := env.books.GLMapping(t.Context(), p, &version)
		if err != nil || found.Version != version || found.Resolve("customers/x", "USD").Code != code {
			t.Errorf("version %d: %+v, %v", version, found.Resolve("customers/x", "USD"), err)
		}
	}
	_, err = env.books.GLMapping(t.Context(), p, new(3))
	apptest.WantFault(t, "no such version", err, fault.NotFound)
	for moment, version := range map[time.Time]int{{}: 2, two.At: 2, one.At: 1, one.At.Add(-time.Microsecond): 0} {
		if found, err := env.Store.GLMapping(t.Context(), p, moment); err != nil || found.Version != version {
			t.Errorf("as of %s: version %d, %v, want %d", moment, found.Version, err, version)
		}
	}
	page, err := env.books.GLMappingVersions(t.Context(), p, ports.VersionFilter{Limit: 1})
	if err != nil || len(page.Versions) != 1 || page.Versions[0].Version != 2 || !page.More {
		t.Errorf("versions %+v, %v", page, err)
	}
	page, err = env.books.GLMappingVersions(t.Context(), p, ports.VersionFilter{Before: 2, Limit: 1})
	if err != nil || len(page.Versions) != 1 || page.Versions[0].Note != "New codes" || page.Versions[0].By != env.change("").By || page.More {
		t.Errorf("versions before 2: %+v, %v", page, err)
	}
}

func TestService_SetGLMappingConcurrently(t *testing.T) {
	t.Parallel()
	// Of several editors that begin with the same version one succeeds, and the others are asked to read it again.
	env := newEnv(t)
	var succeeded, refused atomic.Int32
	var running sync.WaitGroup
	for _, code := range []string{"A", "B", "C", "D"} {
		running.Go(func() {
			switch _, err := done(env.books.SetGLMapping(t.Context(), env.Platform.ID, env.change(code), 0, renamed(code))); {
			case err == nil:
				succeeded.Add(1)
			case fault.Is(err, fault.Conflict):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	running.Wait()

	if succeeded.Load() != 1 || refused.Load() != 3 {
		t.Errorf("%d succeeded and %d were refused", succeeded.Load(), refused.Load())
	}
}

func TestService_ImportGLMapping(t *testing.T) {
	t.Parallel()
	// A file with all lines is a new version. Errors name the rows of the file; nothing is changed then.
	env := newEnv(t)
	file := "path,code,name\n"
	for _, l := range renamed("C-1") {
		file += l.Path + "," + l.Code + "," + l.Name + "\n"
	}
	imported, err := done(env.books.ImportGLMapping(t.Context(), env.Platform.ID, env.change(""), 0, strings.NewReader(file)))
	if err != nil || imported.Version != 1 || imported.Resolve("customers/x", "EUR").Code != "C-1" {
		t.Fatalf("imported %+v, %v", imported, err)
	}

	last := fmt.Sprintf("row %d", strings.Count(file, "\n")+1)
	for name, test := range map[string]struct{ file, fields string }{
		"a repeated row": {file + "rails/*,1100,Funds at payment partners\n", last},
		"a short row":    {file + "rails/RTP,1\n", last},
		"one line only":  {"path,code,name\nrails/*,1,\n", "row 2 name"},
		"no CSV":         {"path,code,name\n\"rails/*,1,x\n", "file"},
		"not UTF-8":      {"path,code,name\nrails/*,1,B\xe4nke\n", "file"},
		"too many rows":  {file + strings.Repeat("rails/RTP,1,x\n", books.MaxMappingLines), "file"},
	} {
		_, err := done(env.books.ImportGLMapping(t.Context(), env.Platform.ID, env.change(""), 1, strings.NewReader(test.file)))
		apptest.WantFault(t, name, err, fault.InvalidInput, test.fields)
	}
	_, err = done(env.books.ImportGLMapping(t.Context(), env.Platform.ID, env.change(""), 0, strings.NewReader(file)))
	apptest.WantFault(t, "from a former version", err, fault.Conflict)
	broken := errors.New("connection lost")
	if _, err := done(env.books.ImportGLMapping(t.Context(), env.Platform.ID, env.change(""), 1, iotest.ErrReader(broken))); !errors.Is(err,
		broken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	if present, err := env.books.GLMapping(t.Context(), env.Platform.ID, nil); err != nil || present.Version != 1 {
		t.Errorf("present %+v, %v", present, err)
	}
}
