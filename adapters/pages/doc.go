// Package pages serves the pages on which the customers of platforms enter their data, upload their
// documents and follow their verification. They work without script and in every language of texts.
//
// It decides nothing: what a customer lacks and may change, and what is valid, comes from the use
// cases. No page has personal data in its URL, and nothing that a customer enters is logged.
package pages
