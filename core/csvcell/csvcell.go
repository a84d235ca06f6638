// Package csvcell protects the readers of CSV files from texts of others: a spreadsheet takes a cell
// that begins with one of some characters for a formula.
//
// It knows one cell at a time; writing and quoting is for encoding/csv.
package csvcell

import (
	"strings"
	"unicode/utf8"
)

// formulaStarts are the characters with which a cell is taken for a formula, also in their wide forms.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// Escape returns the text with an apostrophe in front if a spreadsheet would take it for a formula, or
// if Unescape would change it.
func Escape(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

// Unescape returns the text that Escape was given.
func Unescape(cell string) string {
	if text, escaped := strings.CutPrefix(cell, "'"); escaped && isFormula(text) {
		return text
	}
	return cell
}

// isFormula reports whether a text is a formula, with any number of apostrophes in front.
func isFormula(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, "'"))
	return first != utf8.RuneError && strings.ContainsRune(formulaStarts, first)
}
