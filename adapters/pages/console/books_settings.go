package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/proposal"
	"causeway/ports"
)

// Books are the use cases on the settings of the books and the chart of accounts.
type Books interface {
	Settings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	SettingsVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (ports.VersionPage[books.SettingsVersion], error)
	SetSettings(ctx context.Context, p ident.Platform, c booksapp.Change, next books.Settings) (proposal.Outcome[books.SettingsVersion], error)
	Chart(ctx context.Context, p ident.Platform) ([]booksapp.ChartAccount, error)
	AddAccount(ctx context.Context, p ident.Platform, c booksapp.Change, request *ports.IdempotentRequest, a books.AddedAccount) (
		proposal.Outcome[booksapp.ChartAccount], error)
	ChangeAccount(ctx context.Context, p ident.Platform, c booksapp.Change, path string, change booksapp.AccountChange) (
		proposal.Outcome[booksapp.ChartAccount], error)
}

func (c *Console) booksSettingsRoutes() []platformRoute {
	return append([]platformRoute{{http.MethodGet, "/books-settings", person.View, c.showBooksSettings}},
		c.actionRoutes("/change-books-settings", person.KeepBooks, c.changeBooksSettings)...)
}

// showBooksSettings shows the settings of the books, and who has changed what of them.
func (c *Console) showBooksSettings(r *request) error {
	present, err := c.Books.Settings(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	before, _ := strconv.ParseUint(r.URL.Query().Get("before"), 10, 31) // of another text, the latest
	found, err := c.Books.SettingsVersions(r.Context(), r.platform.ID, ports.VersionFilter{Before: int(before), Limit: pageSize + 1})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Settings of the books", "books-settings"), Intro: "How the books of the platform are kept. They apply from " +
		"the next posting of a month end on; what is posted does not change.", Facts: settingsFacts(present.Settings)}
	rows := table{Label: "Versions", Columns: columns(">Version", "Changed", "By", "What was changed", "Reason"),
		Empty: "Nobody has changed them: they are the defaults."}
	for i, s := range found.Versions[:min(len(found.Versions), pageSize)] {
		earlier := books.DefaultSettings()
		if i+1 < len(found.Versions) {
			earlier = found.Versions[i+1].Settings
		}
		var changes []string
		for _, f := range books.ChangedSettings(earlier, s.Settings) {
			changes = append(changes, f.String())
		}
		rows.Rows = append(rows.Rows, []cell{amountCell(itoa(s.Version)), timed(s.At), plain(by(s.By, s.Approval)),
			plain(strings.Join(changes, "; ")), plain(s.Note)})
	}
	if len(found.Versions) > pageSize {
		v.Older = v.Base + "/books-settings?before=" + itoa(found.Versions[pageSize-1].Version)
	}
	v.Sections = []section{{Heading: "Versions", Table: &rows}}
	if v.MayKeepBooks() {
		v.Actions = []fact{actionLink("Change the settings", v.Base+"/change-books-settings")}
	}
	return c.show(r, v)
}

func settingsFacts(s books.Settings) (facts []fact) {
	for _, f := range books.ChangedSettings(books.Settings{}, s) {
		facts = add(facts, settingsLabels[f.Name], f.After)
	}
	return facts
}

// settingsLabels are the names of the settings, by those of the API.
var settingsLabels = map[string]string{"functionalCurrency": "Functional currency", "unrealisedResult": "Unrealised exchange result",
	"feeRecognition": "Fees are income at", "yearEndMonth": "Last month of the financial year",
	"receivablesAllowance": "Allowance for receivables", "fourEyes": "Needs a second person"}

// changeBooksSettings replaces the settings, or proposes it.
func (c *Console) changeBooksSettings(r *request) (action, error) {
	present, err := c.Books.Settings(r.Context(), r.platform.ID)
	if err != nil {
		return action{}, err
	}
	base, values := basePath(r.platform.ID), map[string]string{}
	for _, f := range books.ChangedSettings(books.Settings{}, present.Settings) {
		values[f.Name] = f.After
	}
	text := func(name, hint string) field {
		return field{Name: name, Label: settingsLabels[name], Value: values[name], Hint: hint}
	}
	choice := func(name string, options ...option) field {
		return field{Name: name, Label: settingsLabels[name], Value: values[name], Kind: "select", Options: options}
	}
	a := action{Title: "Change the settings of the books", Section: "books-settings", NeedsCode: true, Back: base + "/books-settings",
		Does: "The settings apply from the next posting of a month end on; what is posted does not change.",
		Fields: []field{text("functionalCurrency", "Such as `USD`. It stays once exchange results are posted. Empty: none."),
			choice("unrealisedResult", option{string(books.Reverse), "is reversed at the start of the next month"},
				option{string(books.Keep), "stays, and the next month adds the change since"}),
			choice("feeRecognition", option{string(books.AtConversion), "the conversion of a payment"},
				option{string(books.AtDelivery), "its delivery"}),
			text("yearEndMonth", "1 to 12. It stays once a year is closed."),
			text("receivablesAllowance", "Percentages that are expected to be lost, by the days since the return: up to 30, 60, 90, and over, "+
				"such as `1,5,25,100`. Empty: none.")}}
	if present.NeedsFourEyes(books.ActionSettings) {
		a.Does += " They need a second person: your change is proposed, and waits for an approval."
	}
	for _, of := range books.Actions() {
		f := field{Name: "fourEyes-" + string(of), Kind: "checkbox", Label: "A second person for: " + lower(of)}
		if present.Settings.NeedsFourEyes(of) {
			f.Value = "yes"
		}
		a.Fields = append(a.Fields, f)
	}
	a.Fields = append(a.Fields, noteField, field{Name: "version", Kind: "hidden", Value: itoa(present.Version)})
	a.do = func(r *request) (string, error) {
		var fourEyes []string
		for _, of := range books.Actions() {
			if r.PostFormValue("fourEyes-"+string(of)) != "" {
				fourEyes = append(fourEyes, string(of))
			}
		}
		changes := []string{"fourEyes=" + strings.Join(fourEyes, ",")}
		for _, name := range []string{"functionalCurrency", "unrealisedResult", "feeRecognition", "yearEndMonth", "receivablesAllowance"} {
			changes = append(changes, name+"="+formText(r, name))
		}
		next, err := present.With(changes...)
		if err != nil {
			return "", err
		}
		version, err := strconv.Atoi(r.PostFormValue("version"))
		if err != nil {
			return "", errUnreadable
		}
		change, err := c.booksChange(r)
		if err != nil {
			return "", err
		}
		change.Base = &version
		done, err := c.Books.SetSettings(r.Context(), r.platform.ID, change, next)
		return proposed(base, done), err
	}
	return a, nil
}
