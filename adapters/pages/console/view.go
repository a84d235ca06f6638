package console

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// view is a page of facts and tables: a list with its filter, or one thing with what belongs to it.
type view struct {
	page
	// State is shown beside the heading, which is the title. Intro says what the page is for.
	State, Intro string
	// Filter is nil on a page without one. Problems are what is wrong with it.
	Filter   *filter
	Problems []string
	Facts    []fact
	// IsPersonal: the facts have personal data, which is masked unless IsRevealed.
	IsPersonal, IsRevealed bool
	// Actions are what the person may do here, each on a page of its own.
	Actions  []fact
	Charts   []chart
	Sections []section
	// Older is the address of the next page of the list; empty if there is none. Download is that of the list as a file,
	// and DownloadJSON as JSON.
	Older, Download, DownloadJSON string
}

// section is a part of a view.
type section struct {
	// Heading is left out on a list that is the whole page.
	Heading, Text string
	Table         *table
	// Pre is a text as it was written, such as JSON.
	Pre   string
	Facts []fact
}

// filter is the form above a list.
type filter struct {
	To     string // the path that it is sent to
	Fields []field
}

// field is a field of a form.
type field struct {
	Name, Label, Value string
	// Kind is the type of an input, "select" or "checkbox"; empty for a text.
	Kind    string
	Options []option
	Hint    string
	// Autocomplete is what a browser may fill in; empty for what it finds itself.
	Autocomplete string
}

// option is a choice of a select.
type option struct{ Value, Label string }

// optionsOf returns the choices of a select, after one for all.
func optionsOf[T ~string](values []T) []option {
	options := []option{{"", "all"}}
	for _, v := range values {
		options = append(options, option{string(v), lower(v)})
	}
	return options
}

// table is rows of cells under a header. Empty says, instead of no rows, what to do to have some.
type table struct {
	Label   string
	Columns []column
	Rows    [][]cell
	Empty   string
	// File is the name of a file with all its rows, on a page that Console.list serves.
	File string
}

type column struct {
	Name     string
	IsAmount bool
}

// columns returns the header of a table. A name that begins with > is that of amounts.
func columns(names ...string) []column {
	all := make([]column, len(names))
	for i, name := range names {
		all[i].Name, all[i].IsAmount = strings.CutPrefix(name, ">")
	}
	return all
}

// cell is one cell of a table: a text, maybe with a link, a time or a state.
type cell struct {
	Text, Link string
	// Actor is who has done something, shown behind the text.
	Actor string
	// Class is that of the cell: amount, time, id or state.
	Class string
	At    time.Time
	// Full is the text in a file; empty if it is the same.
	Full string
}

func plain(text string) cell      { return cell{Text: text} }
func acted(by string) cell        { return cell{Actor: by} }
func linked(text, to string) cell { return cell{Text: text, Link: to} }
func timed(t time.Time) cell      { return cell{Class: "time", At: t} }
func stated[T ~string](of T) cell { return cell{Class: "state", Text: string(of)} }
func amountCell(text string) cell { return cell{Class: "amount", Text: text} }
func shortID(id, to string) cell  { return cell{Class: "id", Text: short(id), Full: id, Link: to} }
func dayText(t time.Time) string  { return t.UTC().Format(time.DateOnly) }
func pathOfID(id interface{ String() string }) string {
	_, uuid, _ := strings.Cut(id.String(), ":")
	return uuid
}

func minorCell(minor int64, c money.Currency) cell { return amountCell(money.TotalOf(minor).Major(c)) }

// by names who has done something.
func by(a platform.Author, approval platform.Approval) string {
	if approval.IsZero() {
		return a.String()
	}
	return a.String() + ", approved by " + approval.By.String()
}

// fact is a line of a list of facts. Link may be empty. Actor is who has done it, shown behind the value.
type fact struct{ Name, Value, Link, Actor string }

// add adds a fact that is known.
func add(facts []fact, name, value string, link ...string) []fact {
	if value == "" {
		return facts
	}
	return append(facts, fact{Name: name, Value: value, Link: strings.Join(link, "")})
}

// addActor adds a fact that ends with who has done something.
func addActor(facts []fact, name, value, actor string) []fact {
	if actor == "" {
		return facts
	}
	return append(facts, fact{Name: name, Value: value, Actor: actor})
}

func (c *Console) show(r *request, v view) error {
	status := http.StatusOK
	if len(v.Problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	if r.lines == nil && (v.Older != "" || v.Filter != nil && v.Filter.To == r.URL.Path) { // another one is a download
		c.quicken(r, &v.page)
	}
	if err := c.nameActors(r, v); err != nil {
		return err
	}
	if r.lines != nil {
		return r.lines.take(v)
	}
	if t := v.inFile(); r.isList && t != nil && len(t.Rows) > 0 {
		v.Download = fileLink(r)
	}
	return c.render(r, status, "view.html", v)
}

// nameActors names the tokens of the actors that a page shows.
func (c *Console) nameActors(r *request, v view) error {
	if r.platform.ID.IsZero() {
		return nil
	}
	var texts []*string
	addFacts := func(facts []fact) {
		for i := range facts {
			texts = append(texts, &facts[i].Actor)
		}
	}
	addFacts(v.Facts)
	for _, s := range v.Sections {
		addFacts(s.Facts)
		if s.Table == nil {
			continue
		}
		for _, row := range s.Table.Rows {
			for i := range row {
				texts = append(texts, &row[i].Actor)
			}
		}
	}
	return c.Platforms.NameTokens(r.Context(), r.platform.ID, texts...)
}

// actorNames returns authors as they are shown, by their texts.
func (c *Console) actorNames(r *request, authors ...platform.Author) (map[string]string, error) {
	names, texts := map[string]string{}, make([]string, len(authors))
	pointers := make([]*string, len(authors))
	for i, a := range authors {
		texts[i], pointers[i] = a.String(), &texts[i]
	}
	err := c.Platforms.NameTokens(r.Context(), r.platform.ID, pointers...)
	for i, a := range authors {
		names[a.String()] = texts[i]
	}
	return names, err
}

// htmxConfig keeps htmx to what the policy of the pages allows, and pages out of the storage of the browser, which outlives a session. A
// list with a problem of its filter is shown too.
const htmxConfig = `{"allowEval":false,"allowScriptTags":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"historyCacheSize":0,` +
	`"refreshOnHistoryMiss":true,"responseHandling":[{"code":"204","swap":false},{"code":"[23]..","swap":true},{"code":"422","swap":true},` +
	`{"code":"[45]..","swap":false,"error":true}]}`

// quicken lets a page run htmx. Without script it does the same.
func (c *Console) quicken(r *request, p *page) {
	p.Quick = true
	c.site.AllowScript(r.w.Header())
}

// idIn returns the id that the path of a page has, or the fault of a page that does not exist.
func idIn[K ident.Kind](r *request, name string, parse func(string) (ident.ID[K], error)) (ident.ID[K], error) {
	var id ident.ID[K]
	id, err := parse(id.Prefix() + ":" + r.PathValue(name))
	if err != nil {
		return id, errNotFound
	}
	return id, nil
}

// span is a part of a text: code is shown as what is typed.
type span struct {
	Text   string
	IsCode bool
}

// spans splits a text whose code is between backquotes.
func spans(text string) (all []span) {
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			all = append(all, span{part, i%2 == 1})
		}
	}
	return all
}

// pageSize is how many lines of a list are read at once.
func (r *request) pageSize() int {
	if r.lines != nil {
		return filePage
	}
	return pageSize
}

// pagingOf returns the page of a list that a request names. Its length is not shown, and so not counted.
func pagingOf(r *request) ports.Paging {
	return ports.Paging{Limit: r.pageSize(), After: after(r.URL.Query()), WithoutTotal: true}
}

// older returns the address of the next page of a list, with the filter of this one; empty if there is none.
func older[T any](r *request, more bool, items []T, id func(T) string) string {
	if !more || len(items) == 0 {
		return ""
	}
	return pageAfter(r, id(items[len(items)-1]))
}

// pageAfter returns the address of the page of a list after an id.
func pageAfter(r *request, id string) string {
	query := r.URL.Query()
	query.Set("after", id)
	return r.URL.Path + "?" + query.Encode()
}

// writeCSV sends rows as a file. Texts of others are escaped by what made the rows.
func writeCSV(r *request, name string, header []string, rows [][]string) error {
	r.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	r.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_ = csv.NewWriter(r.w).WriteAll(append([][]string{header}, rows...)) // the reader may have left
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }

// byOrService names who has done something; the service, if nobody has.
func byOrService(a platform.Author, approval platform.Approval) string {
	if a == (platform.Author{}) {
		return "service"
	}
	return by(a, approval)
}

// spanOf returns how long something takes, as people say it.
func spanOf(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Millisecond).String()
	}
	return ageOf(d)
}

// ageOf returns a duration as people say it.
func ageOf(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return counted(int(d.Hours())/24, "day")
	case d >= 2*time.Hour:
		return counted(int(d.Hours()), "hour")
	}
	return counted(int(d.Minutes()), "minute")
}
