package console

import (
	"net/http"
	"slices"

	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/person"
)

func (c *Console) chartRoutes() []platformRoute {
	routes := append([]platformRoute{{http.MethodGet, "/chart-of-accounts", person.View, c.list(c.showChart)}},
		c.actionRoutes("/add-account", person.KeepBooks, c.addAccount)...)
	return append(routes, c.actionRoutes("/chart-of-accounts/{class}/{account}/change", person.KeepBooks, c.changeAccount)...)
}

// showChart shows the chart of accounts: first those that finance has added.
func (c *Console) showChart(r *request) error {
	chart, err := c.Books.Chart(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Chart of accounts", "chart-of-accounts"), Intro: "The accounts of the ledger. Those that the platform has " +
		"added take adjustments; the others are posted to by payments. `<…>` stands for each of a kind."}
	mayChange := v.MayKeepBooks()
	added := table{Label: "Added accounts", Columns: columns("Account", "Class", "Name", "Description", "Retired", "General ledger"),
		Empty: "None was added yet, such as `expense/office-rent`."}
	all := table{File: "chart-of-accounts", Label: "All accounts", Columns: added.Columns}
	for _, a := range chart {
		row := []cell{plain(a.Path), plain(lower(a.Class)), {}, plain(a.Description), {}, plain(joined([]string{a.GL.Code, a.GL.Name}))}
		if a.Added != nil {
			row[2], row[4] = plain(a.Added.Name), plain(yesNo(a.Added.Retired))
			own := slices.Clone(row)
			if mayChange {
				own[0].Link = v.Base + "/chart-of-accounts/" + a.Path + "/change"
			}
			added.Rows = append(added.Rows, own)
		}
		all.Rows = append(all.Rows, row)
	}
	v.Sections = []section{{Heading: "Added accounts", Table: &added}, {Heading: "All accounts", Table: &all}}
	if mayChange {
		v.Actions = []fact{actionLink("Add an account", v.Base+"/add-account")}
	}
	return c.show(r, v)
}

// chartAction begins an action on the chart, with what the books need for it.
func (c *Console) chartAction(r *request, title, does string) (action, error) {
	settings, err := c.Books.Settings(r.Context(), r.platform.ID)
	if settings.NeedsFourEyes(books.ActionChart) {
		does += " It needs a second person: your change is proposed, and waits for an approval."
	}
	return action{Title: title, Section: "chart-of-accounts", Does: does, NeedsCode: true,
		Back: basePath(r.platform.ID) + "/chart-of-accounts"}, err
}

// addAccount adds an account to the chart, or proposes it.
func (c *Console) addAccount(r *request) (action, error) {
	a, err := c.chartAction(r, "Add an account", "The account takes adjustments in any currency, and has a line in the trial balance and the "+
		"financial statements once it has entries. It cannot be deleted, but retired.")
	a.Fields = []field{{Name: "path", Label: "Account", Hint: "Its class and a name, such as `expense/office-rent`."},
		{Name: "name", Label: "Name"}, {Name: "description", Label: "Description"}, noteField}
	a.do = func(r *request) (string, error) {
		change, err := c.booksChange(r)
		if err != nil {
			return "", err
		}
		done, err := c.Books.AddAccount(r.Context(), r.platform.ID, change, nil, books.AddedAccount{Path: formText(r, "path"),
			Name: formText(r, "name"), Description: formText(r, "description")})
		return proposed(basePath(r.platform.ID), done), err
	}
	return a, err
}

// changeAccount changes an account of the chart, or proposes it.
func (c *Console) changeAccount(r *request) (action, error) {
	path := r.PathValue("class") + "/" + r.PathValue("account")
	a, err := c.chartAction(r, "Change the account", "The postings to the account stay. One that is retired takes no more adjustments; its "+
		"balance stays too.")
	if err != nil {
		return a, err
	}
	chart, err := c.Books.Chart(r.Context(), r.platform.ID)
	if err != nil {
		return a, err
	}
	var present *books.AddedAccount
	for _, line := range chart {
		if line.Added != nil && line.Path == path {
			present = line.Added
		}
	}
	if present == nil {
		return a, errNotFound
	}
	a.Facts = add(add(nil, "Account", path), "Class", lower(present.Class()))
	retired := field{Name: "retired", Label: "Retired", Kind: "checkbox"}
	if present.Retired {
		retired.Value = "yes"
	}
	a.Fields = []field{{Name: "name", Label: "Name", Value: present.Name}, {Name: "description", Label: "Description",
		Value: present.Description}, retired, noteField}
	a.do = func(r *request) (string, error) {
		change, err := c.booksChange(r)
		if err != nil {
			return "", err
		}
		name, description, isRetired := formText(r, "name"), formText(r, "description"), r.PostFormValue("retired") != ""
		done, err := c.Books.ChangeAccount(r.Context(), r.platform.ID, change, path, booksapp.AccountChange{Name: &name,
			Description: &description, Retired: &isRetired})
		return proposed(basePath(r.platform.ID), done), err
	}
	return a, nil
}

// booksChange returns who changes the books, with the note that was entered.
func (c *Console) booksChange(r *request) (booksapp.Change, error) {
	author, err := c.author(r)
	return booksapp.Change{By: author, Note: formText(r, "note")}, err
}
