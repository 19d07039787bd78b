"""Tests of the whole project, one folder an app."""
