package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	xlanguage "golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"causeway/core/party"
)

// language has the texts of a language, by key.
type language struct {
	Code      string // of BCP 47, such as "en"
	texts     map[string]string
	countries []option // sorted by name
	all       []languageLink
}

// languageLink is a language that can be chosen.
type languageLink struct{ Code, Name string }

// languageCodes are the languages, the default first. Each has a file in texts.
var languageCodes = []string{"en", "es"}

// readLanguages reads the texts of every language.
func readLanguages() ([]language, error) {
	var all []language
	var links []languageLink
	for _, code := range languageCodes {
		body, err := files.ReadFile("texts/" + code + ".json")
		if err != nil {
			return nil, err
		}
		l := language{Code: code}
		if err := json.Unmarshal(body, &l.texts); err != nil {
			return nil, fmt.Errorf("texts/%s.json: %w", code, err)
		}
		l.countries = countryOptions(xlanguage.MustParse(code))
		links = append(links, languageLink{code, l.texts["language"]})
		all = append(all, l)
	}
	for i := range all {
		all[i].all = links
	}
	return all, nil
}

func countryOptions(tag xlanguage.Tag) []option {
	names := display.Regions(tag)
	var all []option
	for _, code := range party.Countries() {
		all = append(all, option{Value: code, Text: names.Name(xlanguage.MustParseRegion(code))})
	}
	order := collate.New(tag)
	slices.SortFunc(all, func(a, b option) int { return order.CompareString(a.Text, b.Text) })
	return all
}

func (l language) has(key string) bool { _, ok := l.texts[key]; return ok }

// T returns the text of a key, with each {} replaced by a value.
func (l language) T(key string, values ...string) (string, error) {
	text, ok := l.texts[key]
	if !ok {
		return "", fmt.Errorf("texts/%s.json has no text %q", l.Code, key)
	}
	for _, v := range values {
		text = strings.Replace(text, "{}", v, 1)
	}
	return text, nil
}

// Languages returns the languages that can be chosen.
func (l language) Languages() []languageLink { return l.all }

const languageCookie = "language"

// chooseLanguage returns the language that the customer chose on a page, or that of the browser. A
// choice is kept for the session of the browser.
func (p *Pages) chooseLanguage(w http.ResponseWriter, r *http.Request) language {
	if chosen, ok := p.language(r.URL.Query().Get("lang")); ok {
		http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: chosen.Code, Path: "/", Secure: p.site.IsSecure, HttpOnly: true,
			SameSite: http.SameSiteLaxMode})
		return chosen
	}
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if chosen, ok := p.language(cookie.Value); ok {
			return chosen
		}
	}
	wanted, _, err := xlanguage.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return p.languages[0]
	}
	for _, tag := range wanted {
		base, _ := tag.Base()
		if chosen, ok := p.language(base.String()); ok {
			return chosen
		}
	}
	return p.languages[0]
}

func (p *Pages) language(code string) (language, bool) {
	i := slices.IndexFunc(p.languages, func(l language) bool { return l.Code == code })
	if i < 0 {
		return language{}, false
	}
	return p.languages[i], true
}
