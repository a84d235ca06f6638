// Package browser drives the pages of the built program in a real browser, and takes the screenshots
// of the documentation.
package browser
