import { Component, provideZonelessChangeDetection } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import './app.js';

@Component({ selector: 'app-root', template: '<h1>Peruse in Angular</h1>' })
class App {}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] });
